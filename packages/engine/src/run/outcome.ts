import type { EndRecord, TerminationMessage } from "@paperclip-k8s/runner";
import type { ContainerState, EventView } from "../cluster/views.ts";

/** What happened to a run. A failure has the shape of a success: every kind carries the same evidence. */
export type RunOutcome = OutcomeKind & { readonly evidence: Evidence };

export type OutcomeKind =
  /** The CLI ended by itself (or was ended after its final line). `exitCode` null: a signal nobody here sent. */
  | { readonly kind: "exited"; readonly exitCode: number | null; readonly signal: string | null }
  | { readonly kind: "cancelled"; readonly reason: string; readonly exitCode: number | null; readonly stopped: boolean }
  /** `by`: the runner's own limit, or the Job's deadline behind it. */
  | { readonly kind: "timed-out"; readonly by: "runner" | "deadline"; readonly exitCode: number | null }
  /** The CLI did not start. `cause` is a word for code, `message` is for people; `permanent`: only a change of the request or the cluster helps. */
  | { readonly kind: "never-started"; readonly cause: StartFailure; readonly message: string; readonly permanent: boolean }
  | { readonly kind: "killed"; readonly by: KilledBy; readonly message: string; readonly exitCode: number | null }
  /** Somebody deleted the Job or its pod. */
  | { readonly kind: "deleted"; readonly what: "job" | "pod"; readonly message: string; readonly exitCode: number | null }
  /** Another server took the Job over. */
  | { readonly kind: "superseded"; readonly byRun: string }
  /** Nothing more can be learned: the run may or may not have ended. The Job is left alone. */
  | { readonly kind: "lost-sight"; readonly message: string }
  /** Another run holds the exclusive key. */
  | { readonly kind: "blocked"; readonly message: string; readonly byJob: string; readonly byRun: string | null };

export type KilledBy = "oom" | "eviction" | "preemption" | "node-loss";

export type StartFailure =
  | "job-create-failed"
  | "secret-create-failed"
  | "volume-unusable"
  | "unschedulable"
  | "image"
  | "container-config"
  | "volume-mount"
  | "start-error"
  | "init-failed"
  | "no-pod"
  | "deadline"
  | "runner";

export interface Evidence {
  readonly namespace: string;
  readonly jobName: string;
  readonly jobUid: string | null;
  readonly podName: string | null;
  readonly node: string | null;
  readonly image: string;
  /** What the end was read from. */
  readonly proof: "end-record" | "termination-message" | "container-state" | "none";
  readonly endRecord: EndRecord | null;
  readonly termination: TerminationMessage | null;
  readonly container: ContainerState | null;
  readonly podReason: string | null;
  readonly jobReason: string | null;
  readonly events: readonly EventView[];
  readonly output: OutputEvidence;
  readonly timings: Timings;
}

export interface OutputEvidence {
  /** Bytes delivered to the caller. */
  readonly delivered: number;
  /** Bytes the CLI wrote, where that is known. */
  readonly expected: number | null;
  /** True only when `delivered` is proved to be all. */
  readonly complete: boolean;
  readonly problem: string | null;
}

/** When each phase was reached, in ms since the run was asked for; null = not reached. */
export interface Timings {
  readonly admitted: number | null;
  readonly accepted: number | null;
  readonly scheduled: number | null;
  readonly started: number | null;
  readonly firstOutput: number | null;
  readonly cliOver: number | null;
  readonly settled: number | null;
}
