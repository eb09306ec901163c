// A process for one piece of work on files (seed, restore, save): it can be abandoned, so a volume that stalls holds up nothing else.
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { CHILD_START_MS, sleep } from "./limits.ts";

export const TASK_FLAG = "--task";

export interface TaskFailure {
  readonly kind: "failed";
  readonly error: string;
}

/** The runner's side of the process. */
export interface FileTask<A> {
  readonly answer: Promise<A | TaskFailure>;
  /** Bytes it has read so far, and when that last grew (`performance.now()`; its start counts too). */
  readonly progress: () => { readonly bytes: number; readonly at: number };
  readonly abandon: () => void;
}

/** How often a limit that may shrink is looked at. */
const LOOK_MS = 50;
const PROGRESS_EVERY_MS = 200;

/** The process answers in JSON; lines before the answer are the bytes read so far. */
export function startTask<A>(runnerFile: string, command: object): FileTask<A> {
  const child = spawn(process.execPath, [runnerFile, TASK_FLAG], { stdio: ["pipe", "pipe", "ignore"] });
  let text = "";
  // Until its first line it has not begun.
  let progress = { bytes: 0, at: performance.now() + CHILD_START_MS };
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    const lines = (text + piece).split("\n");
    text = lines.pop() ?? "";
    if (lines.length > 0) progress = { bytes: Number(lines.at(-1)), at: performance.now() };
  });
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(command));
  const answer = new Promise<A | TaskFailure>((resolve) => {
    child.on("error", (error: NodeJS.ErrnoException) => resolve(failure(`the process for files cannot be started (${error.code})`)));
    child.on("close", (code, signal) => resolve(parse<A>(text) ?? failure(`the process for files ended unexpectedly (${signal ?? code})`)));
  });
  return { answer, progress: () => progress, abandon: () => child.kill("SIGKILL") };
}

/** null, and the process ended, when `leftMs` runs out first; it is asked again and again, for it may shrink. */
export async function answerWithin<A>(task: FileTask<A>, leftMs: () => number): Promise<A | TaskFailure | null> {
  let answer: A | TaskFailure | null = null;
  const answered = task.answer.then((given) => {
    answer = given;
  });
  while (answer === null && leftMs() > 0) await Promise.race([answered, sleep(Math.min(LOOK_MS, leftMs()))]);
  if (answer === null) task.abandon();
  return answer;
}

/** The process itself: handles one command and ends. */
export function runTask<C>(handle: (command: C, onRead: (bytes: number) => void) => unknown): void {
  // It ends with its command, not by a signal meant for the whole group.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
  const onRead = createProgress();
  onRead(0);
  const pieces: Buffer[] = [];
  process.stdin.on("data", (piece: Buffer) => pieces.push(piece));
  process.stdin.on("end", async () => {
    let answer: unknown;
    try {
      answer = await handle(JSON.parse(Buffer.concat(pieces).toString()) as C, onRead);
    } catch (error) {
      answer = failure(error instanceof Error ? error.message : "unknown error");
    }
    writeSync(1, JSON.stringify(answer));
    process.exit(0);
  });
}

/** A line with all the bytes read so far, now and then. */
function createProgress(): (bytes: number) => void {
  let read = 0;
  let writtenAt = Number.NEGATIVE_INFINITY;
  return (bytes) => {
    read += bytes;
    if (performance.now() - writtenAt < PROGRESS_EVERY_MS) return;
    writtenAt = performance.now();
    writeSync(1, `${read}\n`);
  };
}

const failure = (error: string): TaskFailure => ({ kind: "failed", error });

function parse<A>(text: string): A | null {
  try {
    return JSON.parse(text) as A;
  } catch {
    return null;
  }
}
