import type { Connection } from "../cluster/connection.ts";
import type { RunWatch } from "../cluster/run-watch.ts";
import type { Submission } from "../manifest/submission.ts";
import type { Volume } from "../output/volume.ts";
import type { LiveRun } from "./live-run.ts";
import type { RunRequest } from "./request.ts";
import type { RunClock } from "./run-clock.ts";
import type { StatusLine } from "./status.ts";

/** What the caller of a run wants to hear, and how it asks to stop. */
export interface RunIo {
  /** Aborted = cancel; the reason's message is told to people. */
  readonly signal: AbortSignal;
  /** The CLI's stdout, in order; awaited before more is read. */
  onOutput(bytes: Buffer): Promise<void>;
  /** The CLI's stderr, as text. */
  onStderr(text: string): Promise<void>;
  onStatus(line: StatusLine): void | Promise<void>;
}

/** Everything the phases of one run work with. */
export interface RunContext {
  readonly request: RunRequest;
  readonly submission: Submission;
  readonly run: LiveRun;
  readonly connection: Connection;
  readonly watch: RunWatch;
  readonly volume: Volume;
  readonly clock: RunClock;
  readonly io: RunIo;
}

/** A status line is a courtesy: trouble with it never reaches the run. */
export function say(context: RunContext, level: StatusLine["level"], text: string): void {
  void Promise.resolve()
    .then(() => context.io.onStatus({ level, text }))
    .catch(() => {});
}

export function cancelReason(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : String(signal.reason ?? "cancelled");
}
