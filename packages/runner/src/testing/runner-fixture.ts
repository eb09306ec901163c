// Runs the bundled runner as a real process in a folder of its own, laid out as a pod would see it. For tests.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runnerText } from "../../generated/text.ts";
import { signalGroup } from "../cli/process-group.ts";
import type { Waits } from "../limits.ts";
import type { EndRecord, MetaRecord, RunnerSpec, TerminationMessage } from "../records.ts";

export interface Options {
  readonly argv: RunnerSpec["argv"];
  readonly stdin?: Buffer;
  readonly spec?: Partial<RunnerSpec> & { readonly waits?: Partial<Waits> };
  /** More files of the mounted Secret. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: NodeJS.ProcessEnv;
  readonly runtime?: string;
  /** As on a Node that cannot put another program in its place: file work is done by processes of the runner's own. */
  readonly ownProcesses?: boolean;
  /** The working directory; without it the pod's folder. */
  readonly cwd?: string;
  /** Run it as the first process of a process namespace, as a container's runtime does. */
  readonly first?: boolean;
  /** "blocked": the container's log is a pipe that nobody reads. */
  readonly log?: "read" | "blocked" | "ignore";
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly meta: MetaRecord[];
  readonly end: EndRecord | undefined;
  readonly rawMessage: Buffer | null;
  readonly message: TerminationMessage;
}

export interface Pod {
  readonly folder: string;
  readonly spec: RunnerSpec;
  /** Starts the runner; may be called again to see what a second pod does. */
  readonly start: () => RunningRunner;
}

export interface RunningRunner {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
}

export const node = (script: string, ...args: string[]): [string, ...string[]] => [process.execPath, "-e", script, ...args];
export const shell = (script: string): [string, ...string[]] => ["/bin/sh", "-c", script];

export function preparePod(options: Options): Pod {
  const folder = mkdtempSync(join(tmpdir(), "runner-test-"));
  pods.push({ folder, running: [] });
  const { running } = pods.at(-1)!;
  const out = join(folder, "out");
  const files = { output: join(out, "run.ndjson"), meta: join(out, "run.meta"), lock: join(out, "run.claim") };
  // Longer than a busy machine needs: a test whose subject is one of them sets it.
  const times = { timeoutSec: 0, graceSec: 30, stopGraceSec: 30, drainSec: 30 };
  const base: RunnerSpec = {
    format: 1,
    run: "run-1",
    nonce: "n-1",
    argv: options.argv,
    env: {},
    stdinFile: null,
    files,
    ...times,
    finalLine: null,
  };
  const spec: RunnerSpec = { ...base, stdinFile: options.stdin ? "stdin" : null, ...options.spec };
  mkdirSync(out);
  for (const file of [spec.files.output, spec.files.meta]) if (file.startsWith(out)) writeFileSync(file, "");
  mountSecret(join(folder, "in"), {
    "runner.cjs": runnerText,
    "spec.json": JSON.stringify(spec),
    stdin: options.stdin ?? "",
    "old-node.cjs": "delete process.execve",
    ...options.files,
  });
  const start = (): RunningRunner => {
    const runner = startRunner(folder, spec, options);
    running.push(runner.process);
    void runner.ended.finally(() => running.splice(running.indexOf(runner.process), 1));
    return runner;
  };
  return { folder, spec, start };
}

const pods: Array<{ folder: string; running: ChildProcess[] }> = [];

/** For `afterAll`, not after each test: concurrent tests would clean up behind one another. */
export function cleanUp(): void {
  for (const { folder, running } of pods.splice(0)) {
    for (const runner of running) {
      for (const record of readMeta(join(folder, "out", "run.meta"))) if (record.type === "cli-started") signalGroup(record.pid, "SIGKILL");
      runner.kill("SIGKILL");
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

export const runPod = (options: Options): Promise<Ended> => preparePod(options).start().ended;

/** As the kubelet does it: the visible names are links through `..data`. */
function mountSecret(folder: string, contents: Record<string, string | Buffer>): void {
  mkdirSync(join(folder, "..2026_01"), { recursive: true });
  symlinkSync("..2026_01", join(folder, "..data"));
  for (const [name, content] of Object.entries(contents)) {
    writeFileSync(join(folder, "..2026_01", name), content);
    symlinkSync(join("..data", name), join(folder, name));
  }
}

/** Also without root, where the machine lets users have namespaces. */
const OWN_NAMESPACE = ["unshare", "--user", "--map-current-user", "--pid", "--fork", "--kill-child", "--mount-proc"];

export function canHaveNamespace(): boolean {
  const [program = "", ...args] = OWN_NAMESPACE;
  return spawnSync(program, [...args, "true"]).status === 0;
}

function startRunner(folder: string, spec: RunnerSpec, options: Options): RunningRunner {
  const log = options.log ?? "read";
  const termination = join(folder, "termination-log");
  const stdio = log === "ignore" ? "ignore" : "pipe";
  const command = [
    ...(options.first ? OWN_NAMESPACE : []),
    options.runtime ?? process.execPath,
    join(folder, "in", "runner.cjs"),
    termination,
  ];
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: options.cwd ?? folder,
    env: { ...process.env, HOSTNAME: "pod-1", ...(options.ownProcesses ? oldNode(folder, options.env) : options.env) },
    stdio: ["ignore", stdio, stdio],
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  if (log === "read") {
    child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  }
  const over = new Promise<[number | null, string | null]>((resolve) => {
    child.on(log === "blocked" ? "exit" : "close", (code: number | null, signal: string | null) => resolve([code, signal]));
  });
  const ended = over.then(([code, signal]): Ended => {
    if (log === "blocked") for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    const meta = readMeta(spec.files.meta);
    const end = meta.find((record) => record.type === "end");
    const rawMessage = readOrNull(termination);
    const message = JSON.parse(rawMessage?.toString() || "null") as TerminationMessage;
    return { code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString(), meta, end, rawMessage, message };
  });
  return { process: child, ended };
}

function oldNode(folder: string, env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { ...env, NODE_OPTIONS: [env.NODE_OPTIONS ?? "", `--require=${join(folder, "in", "old-node.cjs")}`].join(" ").trim() };
}

function readMeta(file: string): MetaRecord[] {
  const text = readOrNull(file)?.toString() ?? "";
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as MetaRecord]));
}

function readOrNull(file: string): Buffer | null {
  try {
    // A pipe or a device would never come to its end.
    if (!statSync(file).isFile()) return null;
    return readFileSync(file);
  } catch {
    return null;
  }
}

export const makeFifo = (path: string): void => {
  rmSync(path, { force: true });
  execFileSync("mkfifo", [path]);
};

/** Live processes that have the text as one of their arguments, or that begin with it as a path. */
export function processesWith(text: string): number[] {
  const has = (argument: string): boolean => argument === text || argument.startsWith(`${text}/`);
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const line = readOrNull(`/proc/${name}/cmdline`)?.toString() ?? "";
    return line.split("\0").some(has) ? [Number(name)] : [];
  });
}

/** An odd number of seconds no other process on the machine sleeps for. */
export const oddSeconds = (seconds: number): string => `${seconds}.${process.pid}${(counter++).toString().padStart(3, "0")}`;
let counter = 0;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const HANG_MS = 120_000;

export async function waitFor(met: () => boolean, what: string): Promise<void> {
  for (const end = performance.now() + HANG_MS; !met(); await sleep(10)) {
    if (performance.now() > end) throw new Error(`waited ${HANG_MS} ms for ${what}`);
  }
}

const STILL_MS = 300;

/** Waits until a count that only grows has stood still for a while, and gives it. */
export async function standstillOf(count: () => number): Promise<number> {
  for (let before = count(); ; before = count()) {
    await sleep(STILL_MS);
    if (count() === before) return before;
  }
}
