// Ends the CLI and the processes it leaves running: SIGTERM to its group, SIGKILL after a grace.
import { sleep } from "../limits.ts";
import type { EndCause } from "../records.ts";
import { groupSize, signalGroup, terminateGroup } from "./process-group.ts";

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

/** Ends what outlived the CLI in its process group; the number of such processes. */
export async function endLeftovers(group: number, killMs: number): Promise<number> {
  const left = await remaining(group, ENDING_MS);
  if (left === 0) return 0;
  terminateGroup(group);
  if ((await remaining(group, killMs)) > 0) {
    signalGroup(group, "SIGKILL");
    await remaining(group, 500);
  }
  return left;
}

async function remaining(group: number, ms: number): Promise<number> {
  for (const end = performance.now() + ms; ; await sleep(10)) {
    const size = groupSize(group);
    if (size === 0 || performance.now() >= end) return size;
  }
}
