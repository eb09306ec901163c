// What passes between the runner and its writer, in one sequence, so that output and records keep their order.
import type { RunFiles } from "../records.ts";
import type { WakeUpCommand } from "../wake-up/sender.ts";

export const WRITER_FLAG = "--writer";

/** First message: which run's lock file to create, in whose name, and where to write. */
export interface OpenCommand {
  readonly run: string;
  readonly nonce: string;
  readonly pod: string;
  readonly files: RunFiles;
}

export type ToWriter =
  | { readonly type: "open"; readonly command: OpenCommand }
  | { readonly type: "output" | "meta"; readonly bytes: Buffer }
  /** Just before the CLI's start; answered with `start`. */
  | { readonly type: "claim-start" }
  /** From now on wake-ups are sent when the files grow. */
  | { readonly type: "wake-ups"; readonly command: WakeUpCommand }
  /** Answered with `settled`. */
  | { readonly type: "flush" }
  /** Answered with `done`. */
  | { readonly type: "finish" };

export type Ack =
  /** The writer has begun: from here on it is the volume that takes its time. */
  | { readonly type: "started" }
  | { readonly type: "opened" }
  /** Another pod owns the run; the writer touches nothing. */
  | { readonly type: "taken" }
  /** `allowed`: the server has not cancelled the run before. */
  | { readonly type: "start"; readonly allowed: boolean }
  /** `flushed` ≤ `written`: output bytes the volume has confirmed, and those handed to it. `sha256`: of the confirmed ones. */
  | { readonly type: "progress"; readonly written: number; readonly flushed: number; readonly sha256: string }
  /** There is no room on the volume: what was given waits in order. Null = there is room again. */
  | { readonly type: "full"; readonly text: string | null }
  /** Nothing more is written to that file. */
  | { readonly type: "error"; readonly file: "open" | "output" | "meta"; readonly text: string }
  /** Everything before the flush is on the volume or given up. */
  | { readonly type: "settled" }
  | { readonly type: "done" };
