// The runner's side of one state process: asks, waits for the answer, or gives it up.
import { spawn } from "node:child_process";
import { sleep } from "../cli/waits.ts";
import type { SeedAnswer, SeedOrder } from "../seed/seed-home.ts";
import type { FailedAnswer, RestoreAnswer, RestoreOrder, SaveAnswer, SaveOrder, StateAnswer, StateOrder } from "./state-commands.ts";
import { STATE_FLAG } from "./state-process.ts";

export interface StateTask<A extends StateAnswer> {
  readonly answer: Promise<A | FailedAnswer>;
  /** What it has read so far, and when that was last more; `performance.now()`. */
  readonly progress: () => { readonly bytes: number; readonly at: number };
  readonly abandon: () => void;
}

/** How often a limit that may come nearer is looked at. */
const LOOK_MS = 50;

export function startStateTask(runnerFile: string, order: RestoreOrder): StateTask<RestoreAnswer>;
export function startStateTask(runnerFile: string, order: SaveOrder): StateTask<SaveAnswer>;
export function startStateTask(runnerFile: string, order: SeedOrder): StateTask<SeedAnswer>;
export function startStateTask(runnerFile: string, order: StateOrder): StateTask<never> {
  const child = spawn(process.execPath, [runnerFile, STATE_FLAG], { stdio: ["pipe", "pipe", "ignore"] });
  let text = "";
  let progress = { bytes: 0, at: performance.now() };
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    const lines = (text + piece).split("\n");
    text = lines.pop() ?? "";
    if (lines.length > 0) progress = { bytes: Number(lines.at(-1)), at: performance.now() };
  });
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(order));
  const answer = new Promise<FailedAnswer>((resolve) => {
    child.on("error", (error: NodeJS.ErrnoException) => resolve(failed(`the state process cannot be started (${error.code})`)));
    child.on("close", (code, signal) => resolve(parse(text) ?? failed(`the state process ended unexpectedly (${signal ?? code})`)));
  });
  return { answer, progress: () => progress, abandon: () => child.kill("SIGKILL") };
}

/** null, and the process ended, when `leftMs` runs out first; it is asked again and again, for it may shrink. */
export async function answerWithin<A extends StateAnswer>(task: StateTask<A>, leftMs: () => number): Promise<A | FailedAnswer | null> {
  let answer: A | FailedAnswer | null = null;
  const answered = task.answer.then((given) => {
    answer = given;
  });
  while (answer === null && leftMs() > 0) await Promise.race([answered, sleep(Math.min(LOOK_MS, leftMs()))]);
  if (answer === null) task.abandon();
  return answer;
}

const failed = (error: string): FailedAnswer => ({ kind: "failed", error });

function parse(text: string): FailedAnswer | null {
  try {
    return JSON.parse(text) as FailedAnswer;
  } catch {
    return null;
  }
}
