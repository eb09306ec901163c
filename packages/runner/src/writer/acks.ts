// What the writer process answers: one JSON line each.
import type { RunFiles } from "../records.ts";

/** First frame to the writer: what to claim, in whose name, and where to write. */
export interface OpenOrder {
  readonly run: string;
  readonly nonce: string;
  readonly pod: string;
  readonly files: RunFiles;
}

export type Ack =
  | { readonly type: "opened" }
  /** Another pod holds the claim; the writer touches nothing and ends. */
  | { readonly type: "refused" }
  /** `flushed` ≤ `written`: output bytes the volume has confirmed, and those handed to it. */
  | { readonly type: "progress"; readonly written: number; readonly flushed: number }
  /** Nothing more is written to that file. */
  | { readonly type: "error"; readonly file: "open" | "output" | "meta"; readonly text: string }
  /** Everything before the flush frame is on the volume or given up. */
  | { readonly type: "settled" }
  | { readonly type: "done" };

/** Cuts the writer's answers out of the bytes of its stdout. */
export function ackReader(onAck: (ack: Ack) => void): (chunk: Buffer) => void {
  let rest = "";
  return (chunk) => {
    const lines = (rest + chunk.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onAck(JSON.parse(line) as Ack);
  };
}
