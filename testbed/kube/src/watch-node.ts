import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Admin } from "./admin.ts";
import type { Description } from "./description.ts";
import { kill, processesOf, signal } from "./processes.ts";
import type { ProgramName } from "./programs.ts";
import { apiServerReady, isNodeReady, startProgram, whyNotReady } from "./start-programs.ts";
import { isStoppedByTest } from "./stopped.ts";
import { until } from "./wait.ts";

export interface NodeWatch {
  /** Ends the watch; gives what had to be repaired, a line each. */
  stop(): Promise<readonly string[]>;
}

export interface WatchOptions {
  /** Called with each repair when it begins, with the last lines of the logs. */
  readonly report: (text: string) => void;
  /** A repair did not help: nothing that needs the cluster can work any more. */
  readonly giveUp: (why: Error) => void;
  readonly everyMs?: number;
  /** A node may be NotReady for a moment on a busy machine. */
  readonly patienceMs?: number;
}

/**
 * Does what systemd and a node's health monitor do on a real node: a program that has died is started again, and a node that takes no pods for a while gets its kubelet and containerd
 * anew. Without it, one program that dies in the middle makes every later test wait for its time limit, and nothing says why.
 */
export function watchNode(cluster: Description & { readonly admin: Admin }, options: WatchOptions): NodeWatch {
  const { dir, programs, nodeName, admin } = cluster;
  const { report, giveUp, everyMs = 5000, patienceMs = 15_000 } = options;
  const names = Object.keys(programs) as ProgramName[];
  const repaired: string[] = [];
  let notReadySince: number | null = null;
  let ended = false;
  let looking: Promise<void> = Promise.resolve();

  const isGone = (name: ProgramName) => !isStoppedByTest(dir, name) && processesOf(programs[name][0]).length === 0;

  async function look(): Promise<void> {
    for (const name of names) {
      if (isGone(name)) await repair(`${name} had ended`, [name]);
    }
    if (names.some((name) => isStoppedByTest(dir, name))) {
      notReadySince = null;
      return;
    }
    const why = await whyNotReady(admin, nodeName).catch((error: Error) => error.message);
    notReadySince = why === null ? null : (notReadySince ?? Date.now());
    if (notReadySince !== null && Date.now() - notReadySince > patienceMs)
      await repair(`node ${nodeName} takes no pods: ${why}`, ["containerd", "kubelet"]);
  }

  async function repair(why: string, broken: readonly ProgramName[]): Promise<void> {
    repaired.push(`${new Date().toISOString()} ${why}; started again: ${broken.join(", ")}`);
    const logs = await Promise.all(broken.map(async (name) => `${name}.log:\n${await lastLines(join(dir, "log", `${name}.log`))}`));
    report([repaired.at(-1), ...logs].join("\n"));
    // Both write into their logs what each of their goroutines waits for.
    if (broken.includes("containerd")) signal(programs.containerd[0], "SIGUSR1");
    if (broken.includes("kubelet")) signal(programs.kubelet[0], "SIGQUIT");
    await sleep(1000);
    for (const name of broken) {
      await kill(programs[name][0]);
      await startProgram(dir, programs, name);
    }
    await apiServerReady(admin);
    await until(`node ${nodeName} to be Ready`, 90, async () => {
      // A kubelet that finds containerd not ready yet ends itself.
      if (isGone("kubelet")) await startProgram(dir, programs, "kubelet");
      await sleep(1000);
      return isNodeReady(admin, nodeName);
    });
    notReadySince = null;
  }

  const timer = setInterval(() => {
    looking = looking.then(async () => {
      if (ended) return;
      await look().catch((error: Error) => {
        ended = true;
        giveUp(error);
      });
    });
  }, everyMs);
  return {
    stop: async () => {
      ended = true;
      clearInterval(timer);
      await looking;
      return repaired;
    },
  };
}

const lastLines = async (path: string): Promise<string> =>
  (await readFile(path, "utf8").catch(() => ""))
    .trimEnd()
    .split("\n")
    .slice(-15)
    .map((line) => `  ${line.slice(0, 400)}`)
    .join("\n");
