import { execFileSync, spawn } from "node:child_process";
import { accessSync, closeSync, constants, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { constants as osConstants } from "node:os";
import { isAbsolute, join } from "node:path";

export const podMarker = "POCKET_POD_UID";
export const clusterMarker = "POCKET_CLUSTER";

export interface ProcessExit {
  readonly exitCode: number;
  readonly signal?: number;
}

export interface Launch {
  readonly argv: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly cwd: string;
  readonly log: string;
}

export interface RunningProcess {
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
}

/** The runtime could not start the command: the text of StartError. */
export class StartError extends Error {}

const startError = (why: string): StartError =>
  new StartError(
    `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ${why}: unknown`,
  );

// Found by hand because spawn's ENOENT does not tell a missing program from a missing folder.
function resolveProgram(command: string, path: string): string {
  if (command.includes("/")) {
    const stat = statSync(command, { throwIfNoEntry: false });
    if (!stat) throw startError(`exec: "${command}": stat ${command}: no such file or directory`);
    if (stat.isDirectory() || !isExecutable(command)) throw startError(`exec: "${command}": permission denied`);
    return command;
  }
  const found = path
    .split(":")
    .filter(isAbsolute)
    .map((dir) => join(dir, command))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() && isExecutable(file));
  if (!found) throw startError(`exec: "${command}": executable file not found in $PATH`);
  return found;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// In its own process group, so that a signal to pocket's group does not reach it, with nothing on stdin.
export async function launch({ argv, env, cwd, log }: Launch): Promise<RunningProcess> {
  const [command, ...args] = argv;
  if (command === undefined) throw startError("no command specified");
  const program = resolveProgram(command, env.get("PATH") ?? "");
  const output = openSync(log, "a");
  try {
    const options = { argv0: command, cwd, env: Object.fromEntries(env), detached: true, stdio: ["ignore", output, output] } as const;
    const child = spawn(program, args, { ...options, stdio: [...options.stdio] });
    const exited = new Promise<ProcessExit>((resolve) => {
      child.on("exit", (code, signal) => {
        const number = signal === null ? undefined : osConstants.signals[signal];
        resolve(number === undefined ? { exitCode: code ?? 0 } : { exitCode: 128 + number, signal: number });
      });
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error: NodeJS.ErrnoException) => reject(startError(`exec ${command}: ${error.code}`)));
    });
    return { pid: child.pid!, exited };
  } finally {
    closeSync(output);
  }
}

export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Living processes that carry `marker=value` in their environment: also those that left the group or lost their parent. */
export function markedProcesses(marker: string, value: string): number[] {
  const wanted = `${marker}=${value}`;
  if (process.platform === "linux") return linuxProcesses().filter((pid) => environOf(pid).includes(wanted) && isAlive(pid));
  const lines = execFileSync("ps", ["-axEww", "-o", "pid=,command="], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }).split("\n");
  return lines.filter((line) => line.includes(wanted)).map((line) => Number.parseInt(line, 10));
}

const linuxProcesses = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid);

function environOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    return []; // gone, or not ours to read
  }
}

// A zombie has ended; its parent only has not looked.
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

/** Kills whatever is left of a pod; repeated because a process may fork while the list is read. */
export function killMarked(marker: string, value: string): void {
  for (let round = 0; round < 20; round++) {
    const found = markedProcesses(marker, value);
    if (found.length === 0) return;
    for (const pid of found) signalProcess(pid, "SIGKILL");
  }
}

/** Resident memory in pages, to pick the victim the kernel would; 0 where it cannot be read. */
export function residentPages(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1] ?? 0);
  } catch {
    return 0;
  }
}
