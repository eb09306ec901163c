// The state process: does one order, tells how far it is with a restore, and ends. A volume that stalls holds it up, and nobody else.
import { writeSync } from "node:fs";
import { seedHome } from "../seed/seed-home.ts";
import { restoreState } from "./restore-state.ts";
import { saveState } from "./save-state.ts";
import type { StateAnswer, StateOrder } from "./state-commands.ts";

export const STATE_FLAG = "--state";

export function runStateProcess(): void {
  // It ends with its order, not by a signal meant for the whole group.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
  const pieces: Buffer[] = [];
  process.stdin.on("data", (piece: Buffer) => pieces.push(piece));
  process.stdin.on("end", () => {
    const order = JSON.parse(Buffer.concat(pieces).toString()) as StateOrder;
    void obey(order).then((answer) => {
      writeSync(1, JSON.stringify(answer));
      process.exit(0);
    });
  });
}

const TELL_EVERY_MS = 200;

/** A line with all the bytes read so far, now and then. */
function createProgress(): (bytes: number) => void {
  let read = 0;
  let toldAt = 0;
  return (bytes) => {
    read += bytes;
    if (performance.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = performance.now();
    writeSync(1, `${read}\n`);
  };
}

async function obey(order: StateOrder): Promise<StateAnswer> {
  try {
    if (order.act === "seed") return seedHome(order);
    return order.act === "restore" ? restoreState(order, createProgress()) : await saveState(order);
  } catch (error) {
    return { kind: "failed", error: error instanceof Error ? error.message : "unknown error" };
  }
}
