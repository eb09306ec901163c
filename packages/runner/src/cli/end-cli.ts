// Ends the CLI and the processes it leaves running: SIGTERM to its group, SIGKILL after a grace.
import { orNull } from "../files.ts";
import { sleep } from "../limits.ts";
import type { EndCause } from "../records.ts";
import { cliProcesses, signalGroup, terminateGroup } from "./process-group.ts";

export class CliEnder {
  /** The first cause counts; null as long as the CLI is left alone. */
  cause: EndCause | null = null;
  readonly #group: number;
  #over = false;
  #killAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(group: number, exited: Promise<unknown>) {
    this.#group = group;
    void exited.then(() => {
      this.#over = true;
      clearTimeout(this.#timer);
    });
  }

  /** A moment later, so that an exit that has already happened is seen first and keeps its own cause. */
  end(cause: EndCause, graceMs: number): void {
    setImmediate(() => this.#end(cause, graceMs));
  }

  #end(cause: EndCause, graceMs: number): void {
    if (this.#over) return;
    this.cause ??= cause;
    const killAt = performance.now() + graceMs;
    terminateGroup(this.#group);
    // A stop from outside may leave less time than a limit reached before it.
    if (killAt >= this.#killAt) return;
    this.#killAt = killAt;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => signalGroup(this.#group, "SIGKILL"), graceMs);
  }
}

/** A process closes its files a moment before it is gone: one that is just ending by itself is not counted. */
const ENDING_MS = 100;

/** Ends what outlived the CLI; the number of such processes. */
export async function endLeftovers(group: number, killMs: number): Promise<number> {
  const left = await remaining(group, ENDING_MS);
  if (left.length === 0) return 0;
  terminateGroup(group);
  signalEach(left, "SIGTERM");
  if ((await remaining(group, killMs)).length > 0) await remaining(group, KILLED_MS, (pids) => signalEach(pids, "SIGKILL"));
  return left.length;
}

/** Processes that start others faster than they are killed end with the container. */
const KILLED_MS = 500;

async function remaining(group: number, ms: number, act: (pids: readonly number[]) => void = () => {}): Promise<readonly number[]> {
  for (const end = performance.now() + ms; ; await sleep(10)) {
    const pids = cliProcesses(group);
    if (pids.length === 0 || performance.now() >= end) return pids;
    act(pids);
  }
}

function signalEach(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) orNull(() => process.kill(pid, signal));
}
