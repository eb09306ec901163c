import type { Fault, RequestMatch } from "@paperclip-k8s/pocket";

/** Lasts until it is undone. */
export interface Trouble {
  undo(): Promise<void>;
}

/** Everything that can be made to go wrong, on either cluster. */
export interface BedFaults extends WireFaults, ClusterFaults {}

/** Between the account and the API server. */
export interface WireFaults {
  fail(match: RequestMatch, options: { status: number; times?: number; retryAfter?: number; message?: string }): Fault;
  hang(match: RequestMatch, options?: { times?: number }): Fault;
  delay(match: RequestMatch, ms: number, options?: { times?: number }): Fault;
  drop(match: RequestMatch, options: { when: "before" | "after"; times?: number }): Fault;
  /** Connections are refused until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
  cutWatches(): number;
  silenceWatches(): Fault;
  duplicateEvents(): Fault;
  /** Nothing up to now can be resumed from. */
  expireHistory(options?: { as?: "event" | "http" }): void;
}

/** In the cluster itself: injected into the embedded one, made for real on the other. */
export interface ClusterFaults {
  /** The CLI, which must hoard when the file appears, exceeds the pod's limit; `all` takes the runner with it where the cluster can. */
  oom(pod: string, options: { readonly trigger: string; readonly victim: "all" | "child" }): Promise<void>;
  /** The pod's first process is killed: by the CLI's tool when the file appears, or from outside where nothing in the pod can. */
  killRunner(pod: string, options: { readonly trigger: string }): Promise<void>;
  /** Through the eviction API, as a drain does it. */
  evict(pod: string): Promise<void>;
  preempt(pod: string): Promise<void>;
  deletePod(pod: string, options?: { readonly gracePeriodSeconds?: number }): Promise<void>;
  deleteJob(job: string, propagation: "Background" | "Foreground"): Promise<void>;
  /** The node's kubelet is gone; `taint`: other nodes are there, so its pods are given up. */
  loseNode(options?: { readonly taint?: boolean }): Promise<Trouble>;
  /** The volume behind a claim is gone for good. */
  loseVolume(claim: string): Promise<void>;
  /** New pods find no node. */
  unschedulable(): Promise<Trouble>;
  /** Jobs get no pods. */
  noPods(why: "quota" | "service-account"): Promise<Trouble>;
}
