// The writer process: a runner with a thread stuck in a file call could never exit, so another process makes those calls.
import { writeSync } from "node:fs";
import { type Ack, FRAME, type FrameKind, FrameParser, type OpenCommand } from "./protocol.ts";
import { VolumeWriter } from "./volume-writer.ts";

export const WRITER_FLAG = "--writer";

export function runWriter(): void {
  // It ends when its runner closes the pipe or is gone, not by a signal meant for the whole group.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
  sendAck({ type: "started" });
  const writer = new VolumeWriter(sendAck);
  const handle = (kind: FrameKind, payload: Buffer): void => {
    if (kind === FRAME.output) writer.output(payload);
    else if (kind === FRAME.meta) writer.meta(payload);
    else if (kind === FRAME.flush) {
      writer.flush();
      sendAck({ type: "settled" });
    } else if (kind === FRAME.open) {
      if (!writer.open(JSON.parse(payload.toString()) as OpenCommand)) process.exit(0);
    } else {
      writer.finish();
      process.exit(0);
    }
  };
  const frames = new FrameParser(handle);
  process.stdin.on("data", (chunk: Buffer) => frames.feed(chunk));
  process.stdin.on("end", () => {
    writer.flush();
    process.exit(0);
  });
}

/** Blocking, so that an answer is out before the next call that may never return. */
function sendAck(ack: Ack): void {
  const bytes = Buffer.from(`${JSON.stringify(ack).replace(/[\u0080-\uffff]/g, "?")}\n`);
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(1, bytes, offset);
    } catch (error) {
      // When the runner is gone, the writer still saves what it was given.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
