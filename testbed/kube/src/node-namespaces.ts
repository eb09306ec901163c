import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { launch } from "./launch.ts";
import { kill, processesOf } from "./processes.ts";
import { run } from "./run.ts";
import type { Settings } from "./settings.ts";
import { until } from "./wait.ts";

/**
 * The node is a machine in the machine: process, mount and network namespaces of its own, held by one small process.
 * Kill that one and the kernel ends all programs, shims and containers, and drops all mounts, links and rules.
 */
const keeperPath = (dir: string): string => join(dir, "bin/keeper");

export const keeper = (dir: string): number | undefined => processesOf(keeperPath(dir))[0];

export async function makeNode({ dir }: Settings): Promise<void> {
  await launch(
    "unshare",
    ["--mount", "--propagation", "slave", "--net", "--pid", "setsid", "--fork", keeperPath(dir)],
    join(dir, "log/keeper.log"),
  );
  await until("the node's first process", 10, () => keeper(dir));
  await runInNode(dir, "mount", "-t", "proc", "proc", "/proc");
  await runInNode(dir, "mount", "-t", "tmpfs", "tmpfs", "/run");
  for (const place of ["/var/lib", "/var/log"]) {
    const own = join(dir, "machine", place);
    await mkdir(own, { recursive: true });
    await runInNode(dir, "mount", "--bind", own, place);
  }
}

export const endNode = (dir: string): Promise<void> => kill(keeperPath(dir));

export const runInNode = (dir: string, ...command: string[]): Promise<string> => run("nsenter", enter(dir, command));

/** Starts a program that stays: it becomes a child of the keeper. */
export const startInNode = (dir: string, command: readonly string[], log: string): Promise<void> =>
  launch("nsenter", enter(dir, ["setsid", "--fork", ...command]), log);

function enter(dir: string, command: readonly string[]): string[] {
  const pid = keeper(dir);
  if (pid === undefined) throw new Error(`the cluster in ${dir} is not running`);
  return ["-t", String(pid), "-m", "-n", "-p", "--", ...command];
}
