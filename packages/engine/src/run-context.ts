import type { WakeUpAddress } from "@paperclip-k8s/runner/wake-up";
import type { Clock } from "./clock.ts";
import type { Connection } from "./kube/connection.ts";
import type { JobView } from "./kube/views.ts";
import type { RunWatch } from "./kube/watch/run-watch.ts";
import type { LiveRun } from "./live-run.ts";
import type { Submission } from "./manifest/submission.ts";
import type { Adoption, BlockedDecision } from "./outcome/observation.ts";
import type { RunRequest } from "./request.ts";
import type { SettledJobs } from "./settled-jobs.ts";
import type { Volume } from "./volume/volume.ts";

/** The caller's side of a run: what it receives, what it decides, and how it asks to stop. */
export interface RunIo {
  /** Aborted = cancel; the reason's message is logged. */
  readonly signal: AbortSignal;
  /** Aborted = follow no more and leave the Job as it is: another run will adopt it. */
  readonly detach?: AbortSignal;
  /** The CLI's stdout, in order; awaited before more is read. */
  onOutput(bytes: Buffer): Promise<void>;
  /** The CLI's stderr, as text. */
  onStderr(text: string): Promise<void>;
  onStatus(line: StatusLine): void | Promise<void>;
  /** Decides about another run's Job that holds this run's key; asked now and then. Without it the Job is waited for. */
  onLockConflict?(owner: LockOwner): Promise<LockDecision>;
  /** The run has its Job of this name: a new one (null), or one it has adopted. */
  onJob?(adopted: Adoption | null, jobName: string): void | Promise<void>;
}

/** One line for people about what the run is doing. */
export interface StatusLine {
  readonly level: "info" | "warning";
  readonly text: string;
  /** Set on the lines that report these two events, for code that waits for them. */
  readonly cli?: "started" | "ended";
  /** It says only that the CLI has written nothing for a while. */
  readonly silence?: true;
}

/** A Job that holds this run's key: what the caller needs to decide about it. */
export interface LockOwner extends Pick<JobView, "uid" | "labels" | "annotations" | "createdAt"> {
  readonly jobName: string;
  /** The run it works for now; null = it does not say. */
  readonly runId: string | null;
  /** It was started by this engine; any other is only waited for. */
  readonly ours: boolean;
  readonly finished: boolean;
  /** Nothing of it can write any more: it has finished, or its end is proved before the cluster says so. */
  readonly ended: boolean;
  /** It never got the Secret without which its pod cannot start. */
  readonly neverStarted?: boolean;
}

/** `remove`: its end is on record, or it was cancelled; nothing of it is needed any more. */
export type LockDecision =
  /** `undecided`: nobody could answer now, so that it is asked again soon. */
  | { readonly kind: "wait"; readonly undecided?: true }
  | { readonly kind: "adopt" }
  | { readonly kind: "remove"; readonly why: string }
  | ({ readonly kind: "blocked" } & BlockedDecision);

/** Everything the phases of one run work with. */
export interface RunContext {
  readonly request: RunRequest;
  /** Another one of another name takes its place where the Job of that name is kept for debugging. */
  submission: Submission;
  readonly run: LiveRun;
  readonly connection: Connection;
  readonly watch: RunWatch;
  readonly volume: Volume;
  /** Where the run's pod sends wake-ups; asked once there is a connection to the API server. Null = nowhere. */
  readonly wakeUp: () => Promise<WakeUpAddress | null>;
  readonly clock: Clock;
  readonly io: RunIo;
  /** Aborted = the caller cancels or detaches: every phase stops waiting. */
  readonly leaving: AbortSignal;
  /** The Jobs whose results this process has given to its callers: none of them is adopted here. */
  readonly settled: SettledJobs;
  /** Other runs' Jobs, by uid, whose end records this run has read. */
  readonly provedEnds: Set<string>;
  /** Other runs' Jobs, by uid, that a request has shown to be gone; the watch may show them a little longer. */
  readonly goneJobs: Set<string>;
  /** Aborted = the process was asked to end: a result that it has given may never be stored. */
  readonly ending: AbortSignal | null;
}

export const log = (context: Pick<RunContext, "io">, level: StatusLine["level"], text: string): void => logLine(context, { level, text });

/** A line of the run's log. A caller that fails to take it does not disturb the run. */
export function logLine({ io }: Pick<RunContext, "io">, line: StatusLine): void {
  callBack(() => io.onStatus(line));
}

export function reportJob(context: RunContext, adopted: Adoption | null): void {
  callBack(() => context.io.onJob?.(adopted, adopted?.job.name ?? context.submission.jobName));
}

function callBack(callback: () => unknown): void {
  void Promise.resolve()
    .then(callback)
    .catch(() => {});
}

/** Why an aborted signal was aborted. */
export function abortReason(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : String(signal.reason ?? "cancelled");
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
