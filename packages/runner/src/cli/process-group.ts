// The CLI's process group: who still lives in it, and sending it a signal.
import { readdirSync, readFileSync } from "node:fs";

/** False when there was nobody to send it to. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/** SIGTERM, and SIGCONT so that a stopped process gets to act on it. */
export function terminateGroup(group: number): void {
  signalGroup(group, "SIGTERM");
  signalGroup(group, "SIGCONT");
}

/** Zombies do not count: they wait for a parent to reap them, which may be never. */
export function groupAlive(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  if (process.platform !== "linux") return true;
  try {
    return readdirSync("/proc").some((name) => /^\d+$/.test(name) && livesIn(name, group));
  } catch {
    return true;
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
