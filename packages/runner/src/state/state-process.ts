// The state process: does one order and ends. A volume that stalls holds it up, and nobody else.
import { writeSync } from "node:fs";
import { seedHome } from "../seed/seed-home.ts";
import { restoreState } from "./restore-state.ts";
import { saveState } from "./save-state.ts";
import type { StateAnswer, StateOrder } from "./state-orders.ts";

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

async function obey(order: StateOrder): Promise<StateAnswer> {
  try {
    if (order.act === "seed") return seedHome(order);
    return order.act === "restore" ? restoreState(order) : await saveState(order);
  } catch (error) {
    return { kind: "failed", error: error instanceof Error ? error.message : "unknown error" };
  }
}
