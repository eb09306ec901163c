import type { DeniedAccess } from "./access.ts";
import { deleteObject } from "./delete.ts";
import { deleteTaintedPod, evictPod, preemptPod } from "./disrupt.ts";
import type { Kubelet } from "./kubelet.ts";
import { killOutOfMemory, type OomVictim } from "./oom.ts";
import type { Pod } from "./pod.ts";
import { type Fault, failure, matches, type RequestMatch } from "./request-faults.ts";
import type { Scheduler } from "./scheduler.ts";
import type { ApiServer } from "./server.ts";
import { notFound } from "./status.ts";
import type { WatchStream } from "./watch.ts";
import type { World } from "./world.ts";

export interface Times {
  /** How many matching requests it hits; 1 by default, Infinity until undone. */
  readonly times?: number;
}

export interface FaultParts {
  readonly world: World;
  readonly server: ApiServer;
  readonly kubelet: Kubelet;
  readonly scheduler: Scheduler;
}

const once = (undo: () => void, hits = 0): Fault => {
  let done = false;
  return {
    hits,
    undo() {
      if (!done) undo();
      done = true;
    },
  };
};

// Everything that can go wrong on demand. What returns a Fault lasts until it is undone or used up; the rest happens now.
export class Faults {
  readonly #parts: FaultParts;
  readonly #streamFaults = new Set<{ match: RequestMatch; apply: (stream: WatchStream) => void }>();

  constructor(parts: FaultParts) {
    this.#parts = parts;
    parts.server.onWatch = (stream) => {
      for (const { match, apply } of this.#streamFaults) if (watchMatches(match, stream)) apply(stream);
    };
  }

  // On the wire.

  /** Answers with an error Status instead of acting. */
  fail(match: RequestMatch, options: Times & { status: number; retryAfter?: number; reason?: string; message?: string }): Fault {
    return this.#parts.server.faults.add(match, { kind: "fail", error: failure(options.status, options) }, options.times ?? 1);
  }

  /** Never answers. */
  hang(match: RequestMatch, { times = 1 }: Times = {}): Fault {
    return this.#parts.server.faults.add(match, { kind: "hang" }, times);
  }

  /** Acts and answers after a pause. */
  delay(match: RequestMatch, ms: number, { times = 1 }: Times = {}): Fault {
    return this.#parts.server.faults.add(match, { kind: "delay", ms }, times);
  }

  /** Closes the connection without an answer, before the request took effect or after. */
  drop(match: RequestMatch, { when, times = 1 }: Times & { when: "before" | "after" }): Fault {
    return this.#parts.server.faults.add(match, { kind: "drop", when }, times);
  }

  /** Takes a permission away: requests get 403, access reviews say so. */
  deny(rule: DeniedAccess): Fault {
    const { denied } = this.#parts.server;
    denied.push(rule);
    return once(() => denied.splice(denied.indexOf(rule), 1));
  }

  /** Refuses connections until `up`; what is stored stays, pods go on. */
  down(): Promise<void> {
    return this.#parts.server.down();
  }

  up(): Promise<void> {
    return this.#parts.server.up();
  }

  // On watches.

  /** Destroys the connections of open watches; tells how many. */
  cutWatches(match: RequestMatch = {}): number {
    const hit = [...this.#parts.server.watches].filter((stream) => watchMatches(match, stream));
    for (const stream of hit) {
      stream.cut();
      this.#parts.server.watches.delete(stream);
    }
    return hit.length;
  }

  /** Watches stay connected but say nothing, not even bookmarks, also new ones; what they missed is not made up for. */
  silenceWatches(match: RequestMatch = {}): Fault {
    return this.#onStreams(match, (stream, on) => {
      stream.silent = on;
    });
  }

  /** Every event is sent twice. */
  duplicateEvents(match: RequestMatch = {}): Fault {
    return this.#onStreams(match, (stream, on) => {
      stream.duplicates = on;
    });
  }

  /** Nothing up to now can be resumed from: an ERROR event as the real server sends, or a plain 410. */
  expireHistory({ as = "event" }: { as?: "event" | "http" } = {}): void {
    this.#parts.server.expireAs = as;
    this.#parts.world.store.forget();
  }

  #onStreams(match: RequestMatch, set: (stream: WatchStream, on: boolean) => void): Fault {
    const { watches } = this.#parts.server;
    const hit = new Set<WatchStream>();
    const entry = {
      match,
      apply: (stream: WatchStream) => {
        hit.add(stream);
        set(stream, true);
      },
    };
    this.#streamFaults.add(entry);
    for (const stream of watches) if (watchMatches(match, stream)) entry.apply(stream);
    const undo = () => {
      this.#streamFaults.delete(entry);
      for (const stream of hit) set(stream, false);
    };
    return {
      get hits() {
        return hit.size;
      },
      undo,
    };
  }

  // On what comes before a pod runs.

  /** New pods find no node. */
  unschedulable(reason = "1 node(s) were unschedulable"): Fault {
    const { world, scheduler } = this.#parts;
    world.state.unschedulable = reason;
    return once(() => {
      world.state.unschedulable = null;
      scheduler.recheck();
    });
  }

  /** Pulling the image fails, whether or not it is in the table. */
  imageError(
    image: string,
    message = `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`,
  ): Fault {
    const { world, kubelet } = this.#parts;
    world.state.imageErrors.set(image, message);
    return once(() => {
      world.state.imageErrors.delete(image);
      kubelet.wake();
    });
  }

  /** Jobs get no pod at all; only FailedCreate events tell. */
  noPods(why: "quota" | "service-account" = "quota"): Fault {
    const { state } = this.#parts.world;
    state.podRefused = (_pod, namespace) =>
      why === "quota"
        ? "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"
        : `error looking up service account ${namespace}/default: serviceaccount "default" not found`;
    return once(() => {
      state.podRefused = null;
    });
  }

  // On pods and nodes.

  /** Pods do not end by themselves, as with a container beside the pod's own that a webhook has added and that runs on. */
  podsStay(): Fault {
    const { state } = this.#parts.world;
    state.podsStay = true;
    return once(() => {
      state.podsStay = false;
    });
  }

  /** Kills by memory: all processes of the pod, its main process, or only a child, after which the main process decides. */
  oom(namespace: string, pod: string, victim: OomVictim = "all"): void {
    this.#pod(namespace, pod);
    killOutOfMemory(this.#parts.kubelet.worker(namespace, pod), victim);
  }

  /** The kubelet evicts: for a storage limit, or with `pressure` for want of memory on the node. */
  evictByKubelet(namespace: string, pod: string, options: { message?: string; pressure?: boolean } = {}): void {
    this.#pod(namespace, pod);
    const pressure = "The node was low on resource: memory. ";
    const message = options.message ?? (options.pressure ? pressure : 'Usage of EmptyDir volume "e" exceeds the limit "5Mi". ');
    this.#parts.kubelet.worker(namespace, pod)?.evict(message, options.pressure ? { reason: "TerminationByKubelet", message } : undefined);
  }

  /** The eviction API, as a drain uses it. */
  evict(namespace: string, pod: string): void {
    evictPod(this.#parts.world, this.#pod(namespace, pod), {});
  }

  /** A pod of higher priority takes the place. */
  preempt(namespace: string, pod: string): void {
    preemptPod(this.#parts.world, this.#pod(namespace, pod));
  }

  /** The node's kubelet is gone: statuses freeze, processes go on. `taint`: other nodes exist, so its pods are marked deleted. Undone: it returns. */
  loseNode({ taint = false }: { taint?: boolean } = {}): Fault {
    const { world, kubelet } = this.#parts;
    kubelet.lose(taint);
    if (taint) for (const pod of world.store.list("pods")) if (pod.status.phase === "Running") deleteTaintedPod(world, pod);
    return once(() => kubelet.find());
  }

  /** The volume behind a claim is gone for good. */
  loseVolume(namespace: string, claim: string): void {
    this.#parts.world.store.change("persistentvolumeclaims", namespace, claim, (draft) => {
      draft.status = { phase: "Lost" };
    });
  }

  /** By hand; `gracePeriodSeconds: 0` is a forced deletion. */
  deletePod(namespace: string, pod: string, options: { gracePeriodSeconds?: number } = {}): void {
    deleteObject(this.#parts.world.store, "pods", this.#pod(namespace, pod), options);
  }

  deleteJob(namespace: string, job: string, propagationPolicy: "Background" | "Foreground" | "Orphan" = "Background"): void {
    const found = this.#parts.world.store.get("jobs", namespace, job);
    if (!found) throw notFound("jobs", job);
    deleteObject(this.#parts.world.store, "jobs", found, { propagationPolicy });
  }

  #pod(namespace: string, name: string): Pod {
    const pod = this.#parts.world.store.get("pods", namespace, name);
    if (!pod) throw notFound("pods", name);
    return pod;
  }
}

const watchMatches = (match: RequestMatch, stream: WatchStream): boolean => matches({ ...match, watch: true }, stream.entry);
