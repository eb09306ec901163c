import type { EndRecord, RunFiles, StartRecord, StateRecord } from "@paperclip-k8s/runner";
import type { ClusterFact, EventView, JobView } from "../kube/views.ts";
import type { RecordTrust } from "../record-trust.ts";

/** One fact about a run, with the time (ms) at which this server learned it. */
export type Observation = { readonly at: number } & Fact;

export type Fact = LeaveFact | LockFact | ClusterEvent | OutputFact | OtherFact;

/** The caller asks to end the run, or to follow it no longer. */
type LeaveFact =
  | { readonly kind: "cancel-asked"; readonly reason: string }
  | { readonly kind: "detach-asked"; readonly reason: string }
  /** A phase before the Job has stopped because of one of these, and no Job of the run exists. */
  | { readonly kind: "left-before-job" };

/** Steps towards the run's Job. */
type LockFact =
  | { readonly kind: "start-problem"; readonly problem: StartProblem }
  /** Whether an agent may be at work in a Job that is this run's to take over; `job`: its uid, null = one that was not looked for yet. */
  | { readonly kind: "orphan"; readonly job: string | null; readonly mayWork: boolean }
  /** No other Job keeps the run from creating its own. */
  | { readonly kind: "lock-free" }
  | { readonly kind: "job-accepted"; readonly job: JobView }
  | { readonly kind: "job-adopted"; readonly adoption: Adoption; readonly records: RecordTrust }
  /** The Job has what it needs, and all that is known about it already has been observed. */
  | { readonly kind: "follow-started" };

/** What keeps a run from starting. The reducer makes the outcome from it, unless the caller has asked to leave meanwhile. */
export type StartProblem =
  | { readonly kind: "volume-unusable"; readonly root: string; readonly error: ErrorFacts }
  /** The account lacks a permission that the run would need later. */
  | { readonly kind: "access-denied"; readonly error: ErrorFacts }
  | { readonly kind: "claim-missing"; readonly claim: string }
  | { readonly kind: "claim-unusable"; readonly claim: string; readonly why: "lost" | "deleting" }
  | { readonly kind: "claim-failed"; readonly claim: string; readonly error: ErrorFacts }
  /** `failed`: the pod that was to change the volume's group ran and failed; otherwise it did not run in time. */
  | {
      readonly kind: "volume-ownership-failed";
      readonly claim: string;
      readonly user: string;
      readonly why: string;
      readonly failed: boolean;
    }
  | { readonly kind: "jobs-not-listed"; readonly waitedMs: number }
  /** The Job of the run that it continues has gone meanwhile. */
  | { readonly kind: "nothing-to-adopt" }
  /** `decision`: what the caller says about the lock owner; null = the time to wait for it is over. */
  | { readonly kind: "lock-taken"; readonly by: ConflictFacts; readonly waitedMs: number; readonly decision: BlockedDecision | null }
  /** The Job to adopt does not say where its output is. */
  | { readonly kind: "output-unknown"; readonly by: ConflictFacts; readonly root: string }
  /** `started`: whether a pod of it may have run. */
  | { readonly kind: "conflict-not-removed"; readonly job: string; readonly started: boolean; readonly error: ErrorFacts }
  /** `unknown`: the Job may have been adopted all the same. */
  | { readonly kind: "takeover-failed"; readonly by: ConflictFacts; readonly unknown: boolean; readonly error: ErrorFacts }
  /** `unknown`: the Job may exist, but cannot start without its Secret. */
  | { readonly kind: "create-rejected"; readonly unknown: boolean; readonly error: ErrorFacts }
  | { readonly kind: "secret-rejected"; readonly secret: string; readonly error: ErrorFacts };

/** An error as plain data. */
export interface ErrorFacts {
  readonly message: string;
  /** The HTTP status the API server answered with; null = none. */
  readonly status: number | null;
  /** The API server's certificate is not accepted. */
  readonly certificate?: boolean;
}

/** A Job that is in this run's way. */
export interface ConflictFacts {
  readonly job: string;
  readonly runId: string | null;
  /** It was started by this engine. */
  readonly ours: boolean;
  /** It has the very key of this run; otherwise its key overlaps. */
  readonly sameKey: boolean;
}

/** The caller says that the run must neither wait for the lock owner nor adopt it. */
export interface BlockedDecision {
  readonly code: string;
  readonly message: string;
}

/** A Job that another run started and this one follows from now on. */
export interface Adoption {
  readonly job: JobView;
  /** The run it was taken from. */
  readonly fromRun: string;
  /** The run it was started for: its records have that run's id. */
  readonly firstRun: string;
  readonly nonce: string;
  readonly files: RunFiles;
}

/** What a watch of the cluster reports, and the events that are read when a pod does not start. */
type ClusterEvent = ClusterFact | { readonly kind: "events"; readonly events: readonly EventView[] };

type OutputFact =
  | { readonly kind: "start-record"; readonly record: StartRecord }
  | { readonly kind: "cli-started" }
  | { readonly kind: "state-record"; readonly record: StateRecord }
  | { readonly kind: "end-record"; readonly record: EndRecord }
  /** Lines of the meta file that somebody else has written. */
  | { readonly kind: "foreign-records"; readonly count: number }
  /** Bytes of the output file delivered so far, and their SHA-256 in hex. */
  | { readonly kind: "output"; readonly bytes: number; readonly sha256: string }
  /** Both files were read to their end after the run was known to have ended. */
  | { readonly kind: "drained"; readonly bytes: number }
  /** The volume does not answer or a file cannot be read, and answers again. `passes`: as soon as the volume answers. */
  | { readonly kind: "output-stalled"; readonly error: string; readonly passes: boolean }
  | { readonly kind: "output-back" }
  /** There is no room on the volume, or there is again. */
  | { readonly kind: "volume-room"; readonly full: boolean };

type OtherFact =
  /** A fact of this kind could not be folded: it is dropped, and nothing that follows can be relied on. */
  { readonly kind: "data-unreadable"; readonly what: Fact["kind"]; readonly error: string } | { readonly kind: "tick" };
