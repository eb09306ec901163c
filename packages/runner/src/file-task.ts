// One piece of work on files (seed, restore, save): it can be abandoned, so a volume that stalls holds up nothing else.
import { spawn } from "node:child_process";
import { CHILD_START_MS, sleep } from "./limits.ts";

export const TASK_FLAG = "--task";

export interface TaskFailure {
  readonly kind: "failed";
  readonly error: string;
}

/** The work, in a process of its own or in the runner. */
export interface FileTask<A> {
  readonly answer: Promise<A | TaskFailure>;
  /** Bytes it has read so far, and when that last grew (`performance.now()`; its start counts too). */
  readonly progress: () => { readonly bytes: number; readonly at: number };
  readonly abandon: () => void;
}

/** How often a limit that may shrink is looked at. */
const LOOK_MS = 50;
const PROGRESS_EVERY_MS = 200;

type Message<A> = { readonly read: number } | { readonly answer: A | TaskFailure };

export function startTask<A>(runnerFile: string, command: object): FileTask<A> {
  const child = spawn(process.execPath, [runnerFile, TASK_FLAG], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  // Until its first message it has not begun.
  let progress = { bytes: 0, at: performance.now() + CHILD_START_MS };
  const answer = new Promise<A | TaskFailure>((resolve) => {
    child.on("message", (message: Message<A>) => {
      if ("answer" in message) resolve(message.answer);
      else progress = { bytes: message.read, at: performance.now() };
    });
    child.on("error", (error: NodeJS.ErrnoException) => resolve(failure(`the process for files cannot be started (${error.code})`)));
    child.on("close", (code, signal) => resolve(failure(`the process for files ended unexpectedly (${signal ?? code})`)));
  });
  child.send(command, () => {});
  return { answer, progress: () => progress, abandon: () => child.kill("SIGKILL") };
}

/** In the runner itself, by calls that do not block it. Once it is abandoned, the work must change nothing more. */
export function taskHere<A>(work: (isAbandoned: () => boolean, onRead: (bytes: number) => void) => Promise<A | TaskFailure>): FileTask<A> {
  let progress = { bytes: 0, at: performance.now() };
  let abandoned = false;
  const onRead = (bytes: number): void => {
    progress = { bytes: progress.bytes + bytes, at: performance.now() };
  };
  const answer = work(() => abandoned, onRead).catch(failureOf);
  const abandon = (): void => {
    abandoned = true;
  };
  return { answer, progress: () => progress, abandon };
}

/** null, and the work abandoned, when `leftMs` runs out first; it is asked again and again, for it may shrink. */
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
  const onRead = createProgress();
  onRead(0);
  process.once("message", async (command: C) => {
    let answer: unknown;
    try {
      answer = await handle(command, onRead);
    } catch (error) {
      answer = failureOf(error);
    }
    send({ answer }, () => process.exit(0));
  });
}

/** Sends how many bytes were read so far, now and then. */
function createProgress(): (bytes: number) => void {
  let read = 0;
  let sentAt = Number.NEGATIVE_INFINITY;
  return (bytes) => {
    read += bytes;
    if (performance.now() - sentAt < PROGRESS_EVERY_MS) return;
    sentAt = performance.now();
    send({ read });
  };
}

/** A runner that is gone takes no messages. */
const send = (message: Message<unknown>, sent = (): void => {}): void => void process.send?.(message, undefined, undefined, sent);

const failure = (error: string): TaskFailure => ({ kind: "failed", error });
const failureOf = (error: unknown): TaskFailure => failure(error instanceof Error ? error.message : "unknown error");
