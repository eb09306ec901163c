// The CLI's process group: how many processes it has, and sending them a signal.
import { readdirSync } from "node:fs";
import { orNull, readOrNull } from "../files.ts";

/** False when there is no such process. */
export const signalGroup = (group: number, signal: NodeJS.Signals | 0): boolean => orNull(() => process.kill(-group, signal)) ?? false;

/** SIGTERM, and SIGCONT so that a stopped process gets to handle it. */
export function terminateGroup(group: number): void {
  signalGroup(group, "SIGTERM");
  signalGroup(group, "SIGCONT");
}

/** How many processes live in it; 1 where that can only be guessed. Zombies do not count: their parent may never reap them. */
export function groupSize(group: number): number {
  if (!signalGroup(group, 0)) return 0;
  if (process.platform !== "linux") return 1;
  return orNull(() => readdirSync("/proc").filter((name) => /^\d+$/.test(name) && livesIn(name, group)).length) ?? 1;
}

function livesIn(pid: string, group: number): boolean {
  const stat = readOrNull(`/proc/${pid}/stat`) ?? "";
  // After the command name, which may itself hold spaces and brackets: state, parent, group.
  const [state, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(pgrp) === group && state !== "Z" && state !== "X";
}
