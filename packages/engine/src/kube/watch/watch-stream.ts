import type { IncomingMessage } from "node:http";
import type { Timers } from "../../clock.ts";
import { JsonLineDecoder } from "./decode-lines.ts";

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
    const decoder = new JsonLineDecoder();
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
        if (!decoder.push(chunk, (value) => take(asEvent(value)))) end();
      } catch (error) {
        end(error);
      }
    });
    for (const event of ["error", "end", "close"]) stream.on(event, () => end());
  });
}

function asEvent(value: unknown): WatchEvent {
  const event = (typeof value === "object" && value !== null ? value : {}) as Partial<WatchEvent>;
  return { type: typeof event.type === "string" ? event.type : "", object: event.object };
}
