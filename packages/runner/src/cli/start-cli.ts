// Starts the CLI in a process group of its own, with its stdin, and says why when it cannot.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Order } from "../read-spec.ts";
import { RUNNER_EXIT } from "../records.ts";
import { cutText } from "./cut-text.ts";

export interface CliExit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Cli {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the CLI itself is over; its output may still be held open by others. */
  readonly exited: Promise<CliExit>;
  /** Settles when both streams are read to their end. */
  readonly drained: Promise<void>;
  /** Stops reading and writing for good. */
  readonly abandon: () => void;
}

export interface SpawnFailure {
  readonly exitCode: number;
  readonly error: string;
}

export async function startCli(order: Order): Promise<Cli | SpawnFailure> {
  const { spec, stdin } = order;
  const [program, ...args] = order.argv;
  const env = cliEnv(process.env, spec.env);
  let child: ChildProcessByStdio<Writable | null, Readable, Readable>;
  try {
    child = spawn(program, args, { env, detached: true, stdio: [stdin ? "pipe" : "ignore", "pipe", "pipe"] }) as typeof child;
  } catch (error) {
    return spawnFailure(program, env.PATH, codeOf(error));
  }
  const failed = new Promise<string>((resolve) => child.on("error", (error) => resolve(codeOf(error))));
  const exited = new Promise<CliExit>((resolve) => child.on("exit", (exitCode, signal) => resolve({ exitCode, signal })));
  // A CLI that reads less than all of its stdin, or none, is in its right.
  child.stdin?.on("error", () => {});
  if (child.pid === undefined) return spawnFailure(program, env.PATH, await failed);
  child.stdin?.end(stdin);
  const streams = [child.stdout, child.stderr];
  const drained = Promise.all(streams.map(ended)).then(() => {});
  const abandon = (): void => {
    for (const stream of [child.stdin, ...streams]) stream?.destroy();
  };
  return { pid: child.pid, stdout: child.stdout, stderr: child.stderr, exited, drained, abandon };
}

/** The runtime's own switch must not reach a CLI that is the same binary. */
export function cliEnv(own: NodeJS.ProcessEnv, secret: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { BUN_BE_BUN: _, ...rest } = own;
  return { ...rest, ...secret };
}

/** Names the program and never its arguments: they may hold what must not be logged. */
export function spawnFailure(program: string, path: string | undefined, code: string): SpawnFailure {
  const name = JSON.stringify(cutText(program, 200));
  if (code !== "ENOENT") return { exitCode: RUNNER_EXIT.notExecutable, error: `cannot run ${name} (${code})` };
  const where = program.includes("/")
    ? "no such file, or its interpreter is missing"
    : `not found in PATH ${cutText(path ?? "(not set)", 300)}`;
  return { exitCode: RUNNER_EXIT.notFound, error: `cannot run ${name}: ${where} (ENOENT)` };
}

const ended = (stream: Readable): Promise<void> =>
  new Promise((resolve) => {
    for (const event of ["end", "close", "error"]) stream.on(event, () => resolve());
  });

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException)?.code ?? "unknown error";
