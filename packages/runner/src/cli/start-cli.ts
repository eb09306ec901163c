// Starts the CLI in a process group of its own, with its stdin, or gives the reason why it cannot.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { cutText } from "../cut-text.ts";
import type { RunnerConfig } from "../read-spec.ts";
import { RUNNER_EXIT } from "../records.ts";

export interface Cli {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the CLI itself is over; its output may still be held open by its children. */
  readonly exited: Promise<{ readonly exitCode: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Settles when both streams are read to their end. */
  readonly drained: Promise<void>;
  /** Stops reading and writing for good. */
  readonly abandon: () => void;
}

interface SpawnFailure {
  readonly exitCode: number;
  readonly error: string;
}

/** What a container without a PATH of its own looks in. */
const USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The image's own programs come first, but for those before them. */
export function withFolders(env: NodeJS.ProcessEnv, behind: readonly string[] = [], before: readonly string[] = []): NodeJS.ProcessEnv {
  const folders = [...before, env.PATH || USUAL_PATH, ...behind];
  return folders.length === 1 ? env : { ...env, PATH: folders.join(":") };
}

export async function startCli({ argv, stdin }: RunnerConfig, env: NodeJS.ProcessEnv): Promise<Cli | SpawnFailure> {
  const [program, ...args] = argv;
  let child: ChildProcessByStdio<Writable | null, Readable, Readable>;
  try {
    child = spawn(program, args, { env, detached: true, stdio: [stdin ? "pipe" : "ignore", "pipe", "pipe"] }) as typeof child;
  } catch (error) {
    return spawnFailure(program, env.PATH, codeOf(error));
  }
  const failed = new Promise<string>((resolve) => child.on("error", (error) => resolve(codeOf(error))));
  const exited = new Promise<Awaited<Cli["exited"]>>((resolve) => child.on("exit", (exitCode, signal) => resolve({ exitCode, signal })));
  // A CLI may read less than all of its stdin, or none.
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

/** Names the program and never its arguments: they may hold what must not be logged. */
function spawnFailure(program: string, path: string | undefined, code: string): SpawnFailure {
  const name = JSON.stringify(cutText(program, 200));
  // A PATH with a folder that the user may not enter makes every missing program one without permission.
  const missing = code === "ENOENT" || (code === "EACCES" && !program.includes("/") && !isInPath(program, path));
  if (!missing) return { exitCode: RUNNER_EXIT.notExecutable, error: `cannot run ${name} (${code})` };
  const where = program.includes("/")
    ? "no such file, or its interpreter is missing"
    : `not found in PATH ${cutText(path ?? "(not set)", 300)}`;
  return { exitCode: RUNNER_EXIT.notFound, error: `cannot run ${name}: ${where} (${code})` };
}

const isInPath = (program: string, path = ""): boolean => path.split(":").some((folder) => existsSync(join(folder, program)));

const ended = (stream: Readable): Promise<void> =>
  new Promise((resolve) => {
    for (const event of ["end", "close", "error"]) stream.on(event, () => resolve());
  });

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException)?.code ?? "unknown error";

const DENIED = new Set(["EACCES", "EPERM", "EROFS"]);

/** What keeps the CLI's user from writing to these folders or to what another user left in them; null = nothing. */
export function notWritable(folders: readonly string[] | undefined): string | null {
  for (const folder of folders ?? []) {
    try {
      accessSync(folder, constants.W_OK | constants.X_OK);
      // A new file system has a folder that is root's and of no concern.
      for (const name of readdirSync(folder)) if (name !== "lost+found") accessSync(join(folder, name), constants.W_OK);
    } catch (error) {
      const { code = "", path = folder } = error as NodeJS.ErrnoException;
      if (DENIED.has(code)) return `user ${process.getuid?.()}:${process.getgid?.()} cannot write to ${path} (${code})`;
    }
  }
  return null;
}
