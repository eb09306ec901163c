/** Time as the watch and the retries see it; tests pass their own. */
export interface Clock {
  /** Milliseconds of a clock that never jumps. */
  now(): number;
  /** Calls back once; returns the cancel. Does not keep the process alive unless `hold` is set. */
  after(ms: number, callback: () => void, hold?: boolean): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback, hold = false) {
    const timer = setTimeout(callback, ms);
    if (!hold) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, rejects with the signal's reason as soon as it is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal, hold = false): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(
      ms,
      () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      },
      hold,
    );
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
