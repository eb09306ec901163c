import { readdirSync, readFileSync } from "node:fs";
import { until } from "./wait.ts";

/** Processes whose first word is this path. The truth is in /proc, so no pid file can be stale. */
export function processesOf(path: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && firstWord(entry) === path)
    .map(Number);
}

function firstWord(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0]!;
  } catch {
    return null; // it has just ended
  }
}

export function signal(path: string, name: NodeJS.Signals): void {
  for (const pid of processesOf(path)) send(pid, name);
}

/** Gives back when nothing of it is left; for the first process of a namespace that means: of all in it. */
export async function kill(path: string): Promise<void> {
  const pids = processesOf(path);
  for (const pid of pids) send(pid, "SIGKILL");
  await until(`the end of ${path}`, 30, () => pids.every(hasEnded));
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** A dying process loses its command line early; only its state says that it is done. */
function hasEnded(pid: number): boolean {
  try {
    return /^[ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!);
  } catch {
    return true;
  }
}
