// The CLI's processes: its process group, and what has left that group in a process namespace of the pod's own.
import { readdirSync } from "node:fs";
import { orNull, readOrNull } from "../files.ts";

/** False when there is no such process. */
export const signalGroup = (group: number, signal: NodeJS.Signals | 0): boolean => orNull(() => process.kill(-group, signal)) ?? false;

/** SIGTERM, and SIGCONT so that a stopped process gets to handle it. */
export function terminateGroup(group: number): void {
  signalGroup(group, "SIGTERM");
  signalGroup(group, "SIGCONT");
}

interface Process {
  readonly pid: number;
  readonly state: string;
  readonly parent: number;
  readonly group: number;
}

/** The live processes of the CLI; of those outside its group only what the runner, as the first process of its namespace, can be sure of. */
export function cliProcesses(group: number): readonly number[] {
  const isFirst = process.pid === 1;
  if (!isFirst && !signalGroup(group, 0)) return [];
  if (process.platform !== "linux") return [group];
  const processes = orNull(() => readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? readProcess(name) : [])));
  if (processes === null) return [group];
  const own = processes.find(({ pid }) => pid === process.pid)?.group;
  const isCli = (one: Process): boolean => one.group === group || (isFirst && one.group !== own && !isFromOutside(one));
  return processes.filter((one) => isAlive(one) && isCli(one)).map(({ pid }) => pid);
}

/** Zombies do not count: Node as the first process does not reap children that others have left to it. */
const isAlive = ({ state }: Process): boolean => state !== "Z" && state !== "X";

/** A command that somebody runs in the container, such as a shell of `kubectl exec`, has its parent in another namespace. */
const isFromOutside = ({ parent }: Process): boolean => parent === 0;

function readProcess(name: string): Process[] {
  const stat = readOrNull(`/proc/${name}/stat`);
  if (stat === null) return [];
  // After the command name, which may itself hold spaces and brackets: state, parent, group.
  const [state = "", parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return [{ pid: Number(name), state, parent: Number(parent), group: Number(group) }];
}
