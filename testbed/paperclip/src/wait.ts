import { setTimeout as sleep } from "node:timers/promises";

/** Asks until there is an answer; says what it waited for when there is none. */
export async function until<T>(what: string, ask: () => Promise<T | null | undefined | false>, seconds: number): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s in vain for ${what}`);
    await sleep(250);
  }
}
