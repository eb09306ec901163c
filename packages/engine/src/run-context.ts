import type { Clock } from "./clock.ts";
import type { FinishedJobs } from "./finish/finished-jobs.ts";
import type { Connection } from "./kube/connection.ts";
import type { RunWatch } from "./kube/watch/run-watch.ts";
import type { LiveRun } from "./live-run.ts";
import type { LockDecision, LockOwner } from "./lock/lock-owner.ts";
import type { Adoption } from "./lock/take-over.ts";
import type { Submission } from "./manifest/submission.ts";
import type { RunRequest } from "./request.ts";
import type { StatusLine } from "./status/status-lines.ts";
import type { Volume } from "./volume/volume.ts";

/** What the caller of a run wants to hear, and how it asks to stop. */
export interface RunIo {
  /** Aborted = cancel; the reason's message is told to people. */
  readonly signal: AbortSignal;
  /** Aborted = follow no more and leave the Job as it is: somebody else will take it over. */
  readonly detach?: AbortSignal;
  /** The CLI's stdout, in order; awaited before more is read. */
  onOutput(bytes: Buffer): Promise<void>;
  /** The CLI's stderr, as text. */
  onStderr(text: string): Promise<void>;
  onStatus(line: StatusLine): void | Promise<void>;
  /** What to do with another run's Job that holds this run's key; asked now and then. Without it the Job is waited for. */
  onLockConflict?(holder: LockOwner): Promise<LockDecision>;
  /** The run has its Job: a new one (null), or one taken over. */
  onJob?(adopted: Adoption | null): void | Promise<void>;
}

/** Everything the phases of one run work with. */
export interface RunContext {
  readonly request: RunRequest;
  readonly submission: Submission;
  readonly run: LiveRun;
  readonly connection: Connection;
  readonly watch: RunWatch;
  readonly volume: Volume;
  readonly clock: Clock;
  readonly io: RunIo;
  readonly settled: FinishedJobs;
}

/** Logs a status line, best effort: an error of the caller never reaches the run. */
export function say(context: RunContext, level: StatusLine["level"], text: string, cli?: StatusLine["cli"]): void {
  void Promise.resolve()
    .then(() => context.io.onStatus({ level, text, ...(cli === undefined ? {} : { cli }) }))
    .catch(() => {});
}

export function tellJob(context: RunContext, adopted: Adoption | null): void {
  void Promise.resolve()
    .then(() => context.io.onJob?.(adopted))
    .catch(() => {});
}

/** Why an aborted signal was aborted. */
export function cancelReason(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : String(signal.reason ?? "cancelled");
}
