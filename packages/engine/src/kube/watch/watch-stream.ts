import type { IncomingMessage } from "node:http";
import type { Timers } from "../../clock.ts";
import { JsonLineDecoder } from "./decode-lines.ts";

export interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/** How a stream ended. `idle`: it was cut here, after a silence no healthy watch keeps. */
export type StreamEnd = "closed" | "idle" | "stopped-by-taker";

/** Reads one watch until it ends. A cut and a clean end are the same to us: both resume. Rejects only on a line that is no JSON. */
export function readWatch(
  stream: IncomingMessage,
  idleMs: number,
  clock: Timers,
  take: (event: WatchEvent) => boolean,
): Promise<StreamEnd> {
  return new Promise((resolve, reject) => {
    const decoder = new JsonLineDecoder();
    let lastByte = clock.now();
    let cancelIdle = () => {};
    const settle = (act: () => void) => {
      cancelIdle();
      stream.removeAllListeners("data");
      stream.destroy();
      act();
    };
    // One timer that looks at the last byte's time, instead of one armed anew for each chunk.
    const watchIdle = (ms: number) => {
      cancelIdle = clock.after(ms, () => {
        const left = lastByte + idleMs - clock.now();
        if (left > 0) watchIdle(left);
        else settle(() => resolve("idle"));
      });
    };
    if (stream.destroyed) return resolve("closed");
    watchIdle(idleMs);
    stream.on("data", (chunk: Buffer) => {
      lastByte = clock.now();
      try {
        if (!decoder.push(chunk, (value) => take(asEvent(value)))) settle(() => resolve("stopped-by-taker"));
      } catch (error) {
        settle(() => reject(error));
      }
    });
    stream.on("error", () => settle(() => resolve("closed")));
    stream.on("end", () => settle(() => resolve("closed")));
    stream.on("close", () => settle(() => resolve("closed")));
  });
}

function asEvent(value: unknown): WatchEvent {
  const event = (typeof value === "object" && value !== null ? value : {}) as Partial<WatchEvent>;
  return { type: typeof event.type === "string" ? event.type : "", object: event.object };
}
