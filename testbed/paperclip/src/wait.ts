import { setTimeout as sleep } from "node:timers/promises";

/** Whoever waits longer hangs: far more than anything takes on a busy machine, so that no test measures speed. */
export const HANG_MS = 300_000;

/** Each question costs the host and its database some work. */
const PAUSE_MS = 500;

/** Asks until there is an answer; says what it waited for when there is none. */
export async function until<T>(what: string, ask: () => Promise<T | null | undefined | false>): Promise<T> {
  const deadline = Date.now() + HANG_MS;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${HANG_MS / 1000} s in vain for ${what}`);
    await sleep(PAUSE_MS);
  }
}
