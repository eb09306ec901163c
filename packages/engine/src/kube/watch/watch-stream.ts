import type { IncomingMessage } from "node:http";
import type { Timers } from "../../clock.ts";
import { LineSplitter } from "../../volume/lines.ts";
import { ApiError } from "../api-error.ts";
import { object, text } from "../views.ts";

// etcd holds objects up to 1.5 MiB; as JSON in a watch event they stay far below this.
const MAX_LINE_BYTES = 32 * 1024 * 1024;

export interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/**
 * Reads one watch until it ends, `take` returns false, or nothing came for `idleMs`, which no healthy watch does. The caller resumes it in every
 * case. Rejects only on a line that is no JSON.
 */
export function readWatch(stream: IncomingMessage, idleMs: number, clock: Timers, take: (event: WatchEvent) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const decode = createLineDecoder();
    let lastByte = clock.now();
    let cancelIdle = () => {};
    const end = (error?: unknown) => {
      cancelIdle();
      stream.removeAllListeners("data");
      stream.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    // One timer that looks at the last byte's time, instead of one armed anew for each chunk.
    const watchIdle = (ms: number) => {
      cancelIdle = clock.after(ms, () => {
        const left = lastByte + idleMs - clock.now();
        if (left > 0) watchIdle(left);
        else end();
      });
    };
    if (stream.destroyed) return resolve();
    watchIdle(idleMs);
    stream.on("data", (chunk: Buffer) => {
      lastByte = clock.now();
      try {
        for (const value of decode(chunk)) if (!take(asEvent(value))) return end();
      } catch (error) {
        end(error);
      }
    });
    for (const event of ["error", "end", "close"]) stream.on(event, () => end());
  });
}

function asEvent(value: unknown): WatchEvent {
  const event = object(value);
  return { type: text(event.type), object: event.object };
}

/** Cuts a byte stream into JSON values, one per line, wherever the network cut it. An unfinished last line is not a value. */
export function createLineDecoder(limit = MAX_LINE_BYTES): (chunk: Buffer) => Iterable<unknown> {
  const splitter = new LineSplitter({ maxLine: limit });
  return function* (chunk) {
    for (const { bytes, part } of splitter.push(chunk)) {
      if (part !== "whole") throw new ApiError("api_bad_answer", `a line of the stream is longer than ${limit} bytes`);
      const line = bytes.toString("utf8").trim();
      if (line !== "") yield parse(line);
    }
  };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new ApiError("api_bad_answer", "a line of the stream is not JSON");
  }
}
