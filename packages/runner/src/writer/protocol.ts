// What passes between the runner and its writer process: frames to it in one pipe, so that output and records keep their order; JSON lines back.
import type { RunFiles } from "../records.ts";

/** First frame: which run's lock file to create, in whose name, and where to write. */
export interface OpenCommand {
  readonly run: string;
  readonly nonce: string;
  readonly pod: string;
  readonly files: RunFiles;
}

export type Ack =
  /** The process has begun: from here on it is the volume that takes its time. */
  | { readonly type: "started" }
  | { readonly type: "opened" }
  /** Another pod owns the run; the writer touches nothing and ends. */
  | { readonly type: "taken" }
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

export const FRAME = { open: 1, output: 2, meta: 3, flush: 4, finish: 5 } as const;
export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

const HEADER = 5;

export function frameHeader(kind: FrameKind, length: number): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(length, 1);
  return header;
}

/** Hands on output as it comes, everything else as whole frames. */
export class FrameParser {
  readonly #onFrame: (kind: FrameKind, payload: Buffer) => void;
  #header: Buffer = Buffer.alloc(0);
  #kind: FrameKind = FRAME.output;
  #missing = 0;
  #pieces: Buffer[] = [];

  constructor(onFrame: (kind: FrameKind, payload: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  feed(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.#missing > 0 ? this.#payload(rest) : this.#headerPart(rest);
  }

  #headerPart(rest: Buffer): Buffer {
    const need = HEADER - this.#header.length;
    this.#header = Buffer.concat([this.#header, rest.subarray(0, need)]);
    if (this.#header.length < HEADER) return rest.subarray(need);
    this.#kind = this.#header.readUInt8(0) as FrameKind;
    this.#missing = this.#header.readUInt32BE(1);
    this.#header = Buffer.alloc(0);
    if (this.#missing === 0) this.#onFrame(this.#kind, Buffer.alloc(0));
    return rest.subarray(need);
  }

  #payload(rest: Buffer): Buffer {
    const piece = rest.subarray(0, this.#missing);
    this.#missing -= piece.length;
    if (this.#kind === FRAME.output) this.#onFrame(this.#kind, piece);
    else {
      this.#pieces.push(piece);
      if (this.#missing === 0) {
        const whole = Buffer.concat(this.#pieces);
        this.#pieces = [];
        this.#onFrame(this.#kind, whole);
      }
    }
    return rest.subarray(piece.length);
  }
}
