import { readdirSync, readFileSync } from "node:fs";

const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** What the kernel says of a group of processes. */
export interface ProcessUsage {
  /** Of those that live, and of their children that have ended. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** The sum of what each had at most. */
  readonly peakBytes: number;
}

interface Stat {
  readonly parent: number;
  readonly ticks: number;
  readonly endedTicks: number;
}

/** All processes below this one. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const stat = statOf(Number(name));
        return stat === null ? [] : [[Number(name), stat.parent] as const];
      }),
  );
  const isBelow = (each: number | undefined): boolean => each !== undefined && (each === pid || isBelow(parents.get(each)));
  return [...parents.keys()].filter((each) => isBelow(parents.get(each)));
}

export function usageOf(pids: readonly number[]): ProcessUsage {
  const stats = pids.map((pid) => statOf(pid)).filter((stat) => stat !== null);
  return {
    cpuMs: stats.reduce((sum, { ticks, endedTicks }) => sum + ticks + endedTicks, 0) * TICK_MS,
    rssBytes: pids.reduce((sum, pid) => sum + residentBytes(pid), 0),
    peakBytes: pids.reduce((sum, pid) => sum + peakBytes(pid), 0),
  };
}

export function residentBytes(pid: number): number {
  return Number(read(pid, "statm").split(" ")[1] ?? 0) * PAGE_BYTES;
}

function peakBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(read(pid, "status"))?.[1] ?? 0) * 1024 || residentBytes(pid);
}

function statOf(pid: number): Stat | null {
  const stat = read(pid, "stat");
  if (stat === "") return null;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const at = (place: number): number => Number(fields[place]);
  return { parent: at(1), ticks: at(11) + at(12), endedTicks: at(13) + at(14) };
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return ""; // it has ended
  }
}
