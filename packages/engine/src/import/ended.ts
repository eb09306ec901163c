// What it means that an import's process has ended, or was ended, without an answer.
import type { ImportAnswer, ImportProgress } from "./protocol.ts";

/** A volume may answer again, and a busy server have more time. */
export function withoutProgress({ step, bytes }: ImportProgress, stallMs: number, root: string): ImportAnswer {
  const time = `no progress for ${Math.round(stallMs / 1000)} s after ${bytes} bytes`;
  if (step === "volume") return { kind: "stalled", reason: `the volume at ${root} does not answer: ${time}` };
  return { kind: "stalled", reason: `its database cannot be read: ${time}` };
}

/** By a signal from outside it may go better the next time; of its own input it dies every time. */
export function diedOf({ step }: ImportProgress, how: string | number | null): ImportAnswer {
  const reason = `its process ended (${how})`;
  return step === "copies" && how !== "SIGKILL" && how !== "SIGTERM" ? { kind: "unfit", reason } : { kind: "stalled", reason };
}
