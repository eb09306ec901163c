// The CLI's process group: how many processes it has, and sending them a signal.
import { readdirSync, readFileSync } from "node:fs";

/** False when there is no such process. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/** SIGTERM, and SIGCONT so that a stopped process gets to handle it. */
export function terminateGroup(group: number): void {
  signalGroup(group, "SIGTERM");
  signalGroup(group, "SIGCONT");
}

/** How many processes live in it; 1 where that can only be guessed. Zombies do not count: their parent may never reap them. */
export function groupSize(group: number): number {
  if (!signalGroup(group, 0)) return 0;
  if (process.platform !== "linux") return 1;
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && livesIn(name, group)).length;
  } catch {
    return 1;
  }
}

function livesIn(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // After the command name, which may itself hold spaces and brackets: state, parent, group.
    const [state, , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(pgrp) === group && state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}
