import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Bed, settingsFor } from "../testbed/suite/src/bed.ts";
import type { Ask, RunRecord, Usage } from "./server.ts";
import type { Script } from "./stamp.ts";

/** CPU so far of the server and of its reader, memory of the server. */
export interface HostUsage {
  readonly serverMs: number;
  readonly readerMs: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
}

/** What a run is to have otherwise. */
interface Change {
  readonly config?: Record<string, unknown>;
  readonly until?: string;
  readonly policy?: string;
}

/** The server process and what it can be asked. */
export interface Host {
  run(script: Script, change?: Change): Promise<RunRecord>;
  usage(): Promise<HostUsage>;
  stop(): void;
}

export function startHost(bed: Bed): Host {
  const child = fork(fileURLToPath(new URL("server.ts", import.meta.url)), [], {
    serialization: "advanced",
    execArgv: ["--expose-gc"],
  });
  const waiting = new Map<number, (answer: RunRecord | Usage) => void>();
  let last = 0;
  child.on("message", (answer: RunRecord | Usage) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  child.on("exit", (code) => {
    if (waiting.size === 0) return;
    console.error(`the server process ended with ${code}`);
    process.exit(1);
  });
  const ask = <Answer extends RunRecord | Usage>(question: Omit<Ask, "id"> | { usage: true }): Promise<Answer> =>
    new Promise((resolve) => {
      waiting.set(++last, (answer) => resolve(answer as Answer));
      child.send({ ...question, id: last });
    });
  return {
    run: (script, { config = {}, until = null, policy = null }: Partial<Ask> = {}) =>
      ask<RunRecord>({ name: `bench-${randomUUID()}`, script, config: { ...settings(bed), ...config }, until, policy }),
    usage: async () => {
      const own = await ask<Usage>({ usage: true });
      return { serverMs: own.cpuMs, readerMs: childrenCpuMs(child), rssBytes: own.rssBytes, heapBytes: own.heapBytes };
    },
    stop: () => void (child.connected && child.disconnect()),
  };
}

function settings(bed: Bed): Record<string, unknown> {
  return {
    ...settingsFor(bed),
    resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { cpu: "2", memory: "1Gi" } },
  };
}

const TICK_MS = 10;

/** The reader processes, by the kernel's count. */
function childrenCpuMs(server: ChildProcess): number {
  const ticks = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => statOf(pid))
    .filter((stat) => stat !== null && stat.parent === server.pid)
    .reduce((sum, stat) => sum + (stat?.ticks ?? 0), 0);
  return ticks * TICK_MS;
}

function statOf(pid: string): { parent: number; ticks: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null;
  }
}
