import type { EndRecord, StateEnd, TerminationMessage } from "@paperclip-k8s/runner";
import type { ContainerState, EventView } from "./kube/views.ts";

/** What happened to a run. A failure has the shape of a success: every kind carries the same evidence. */
export type RunOutcome = OutcomeKind & { readonly evidence: Evidence };

export type OutcomeKind =
  /** The CLI ended by itself (or was ended after its final line). `exitCode` null: a signal that was not sent by us. */
  | { readonly kind: "exited"; readonly exitCode: number | null; readonly signal: string | null }
  | { readonly kind: "cancelled"; readonly reason: string; readonly exitCode: number | null; readonly stopped: boolean }
  /** `by`: the runner's own limit, or the Job's deadline behind it. */
  | { readonly kind: "timed-out"; readonly by: "runner" | "deadline"; readonly exitCode: number | null }
  /** The CLI did not start. `cause` is a word for code, `message` is for people; `permanent`: only a change of the request or the cluster helps. */
  | { readonly kind: "never-started"; readonly cause: StartFailure; readonly message: string; readonly permanent: boolean }
  /** `remedy`: what to change, where something of ours would help. */
  | {
      readonly kind: "killed";
      readonly by: KilledBy;
      readonly message: string;
      readonly remedy: string | null;
      readonly exitCode: number | null;
    }
  /** The Job or its pod was deleted from outside. */
  | { readonly kind: "deleted"; readonly what: "job" | "pod"; readonly message: string; readonly exitCode: number | null }
  /** The caller asked to follow no more; the Job, where there is one, goes on. */
  | { readonly kind: "detached"; readonly reason: string }
  /** Another run has adopted the Job. */
  | { readonly kind: "superseded"; readonly byRun: string }
  /** Nothing more can be learned: the run may or may not have ended. The Job is left alone. */
  | { readonly kind: "end-unknown"; readonly message: string }
  /** The adopted Job is live, but its pod was not found. */
  | { readonly kind: "reattach-failed"; readonly message: string }
  /** Another run holds the exclusive key. `code`: the caller's own, where it has decided so. */
  | {
      readonly kind: "blocked";
      readonly code: string | null;
      readonly message: string;
      readonly byJob: string;
      readonly byRun: string | null;
    };

/** `runner`: it failed, and took the CLI with it. `output-limit`: the runner ended a CLI that wrote too much. */
export type KilledBy = "oom" | "output-limit" | "eviction" | "preemption" | "node-loss" | "runner";

export type StartFailure =
  | "job-create-failed"
  /** Whether another run is at work could not be seen. */
  | "jobs-not-listed"
  /** The run was to adopt a Job, which is gone. */
  | "nothing-to-adopt"
  /** The Job of the run it continues goes on, but is not known to be this run's. */
  | "takeover-failed"
  | "secret-create-failed"
  | "volume-unusable"
  /** A claim of the run's own is not there and may not be made; could not be made; cannot be used; cannot be written to by the pod's user. */
  | "claim-missing"
  | "claim-create-failed"
  | "claim-unusable"
  | "claim-not-writable"
  | "unschedulable"
  | "image"
  | "container-config"
  | "volume-mount"
  | "start-error"
  /** Something that the image must have is not in it: the program that runs the runner, a version of it that is new enough, the CLI. */
  | MissingProgram
  | "init-failed"
  | "no-pod"
  | "deadline"
  | "state-unreadable"
  | "runner";

export type MissingProgram = "runtime-missing" | "runtime-too-old" | "cli-missing";

export interface Evidence {
  readonly namespace: string;
  readonly jobName: string;
  readonly jobUid: string | null;
  readonly podName: string | null;
  readonly node: string | null;
  readonly image: string;
  /** What the node has pulled as that image; null = not known. */
  readonly imageId: string | null;
  /** What the end was read from. */
  readonly proof: "end-record" | "termination-message" | "container-state" | "none";
  readonly endRecord: EndRecord | null;
  /** Whether the run signs its records and saved states. */
  readonly signed: boolean;
  readonly termination: TerminationMessage | null;
  readonly container: ContainerState | null;
  readonly podReason: string | null;
  readonly jobReason: string | null;
  readonly events: readonly EventView[];
  readonly output: OutputEvidence;
  readonly memory: MemoryEvidence;
  /** null: the run keeps nothing, or what it began with is not known. */
  readonly state: StateEvidence | null;
  /** What a reader should know even of a success. */
  readonly warnings: readonly string[];
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
  /** Somebody other than the run's pod has written to it: nothing in it can be relied on. */
  readonly forged: boolean;
}

/** The session's saved state; `saveMs` null: the end was not seen. */
export type StateEvidence = Omit<StateEnd, "saveMs"> & { readonly saveMs: number | null };

export interface MemoryEvidence {
  /** Processes killed by the kernel for lack of memory, where that is known. */
  readonly oomKills: number | null;
  /** As Kubernetes writes them: "512Mi". */
  readonly limit: string | null;
  readonly peak: string | null;
  /** Both of them, for people. */
  readonly figures: string;
  readonly killed: boolean;
  /** What to change when something was killed. */
  readonly remedy: string | null;
}

/** When each phase was reached, in ms since the run was asked for; null = not reached. */
export type Timings = Readonly<
  Record<"admitted" | "accepted" | "scheduled" | "started" | "firstOutput" | "cliOver" | "settled", number | null>
>;
