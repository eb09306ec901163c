import { setTimeout as sleep } from "node:timers/promises";

type Nothing = null | undefined | false | "" | 0;

/** Asks until there is an answer; a failing question counts as no answer and is named in the end. */
export async function until<T>(what: string, seconds: number, ask: () => T | Promise<T>): Promise<Exclude<T, Nothing>> {
  const deadline = Date.now() + seconds * 1000;
  let trouble = "";
  for (;;) {
    try {
      const answer = await ask();
      if (answer) return answer as Exclude<T, Nothing>;
      trouble = "";
    } catch (error) {
      trouble = `: ${(error as Error).message}`;
    }
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s in vain for ${what}${trouble}`);
    await sleep(100);
  }
}
