import { type SharedState, sharedState } from "./shared-state.ts";

/** Each may take a whole database of room on the server's disk, and a core. */
const MOST_AT_ONCE = 2;

/** Does the work when fewer than two imports of the process go on; null = the caller no longer wants it. */
export async function inTurn<T>(signal: AbortSignal, work: () => Promise<T>, state: SharedState = sharedState()): Promise<T | null> {
  if (!(await turn(signal, state))) return null;
  try {
    return await work();
  } finally {
    state.running--;
    state.waiting.shift()?.();
  }
}

/** Whether it is the caller's turn, which then counts as running. */
async function turn(signal: AbortSignal, state: SharedState): Promise<boolean> {
  while (!signal.aborted && state.running >= MOST_AT_ONCE) await woken(signal, state);
  if (signal.aborted) {
    // It may have been woken in the place of another.
    if (state.running < MOST_AT_ONCE) state.waiting.shift()?.();
    return false;
  }
  state.running++;
  return true;
}

function woken(signal: AbortSignal, { waiting }: SharedState): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    };
    const onAbort = (): void => {
      const at = waiting.indexOf(wake);
      if (at !== -1) waiting.splice(at, 1);
      resolve();
    };
    waiting.push(wake);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
