import { backoffMs } from "../kube/backoff.ts";
import type { RunContext } from "../run-context.ts";

const PAUSE = { minMs: 2000, maxMs: 15_000 };

/** Tries on behind a run that goes on, as long as it does and is wanted. False = it was of no use any more, or is hopeless. */
export async function retryInBackground(
  { run, clock, io }: RunContext,
  call: () => Promise<void>,
  isHopeless: (error: unknown) => boolean,
): Promise<boolean> {
  const over = new AbortController();
  void run.settled.then(() => over.abort());
  const ended = AbortSignal.any([over.signal, io.signal]);
  for (let failures = 1; ; failures++) {
    await clock.sleep(backoffMs(PAUSE, failures, Math.random), ended);
    if (ended.aborted) return false;
    try {
      await call();
      return true;
    } catch (error) {
      if (isHopeless(error)) return false;
    }
  }
}
