import { isolated } from "./errors.ts";

/** The two things a clock must be able to do; tests bring their own. */
export interface Timers {
  /** Milliseconds of a clock that never jumps. */
  now(): number;
  /** Calls back once; returns the cancel. Does not keep the process alive unless `hold` is set. */
  after(ms: number, callback: () => void, hold?: boolean): () => void;
}

/** Time for runs and requests. Runs get theirs from the engine's options, requests use the system's: a test makes hours pass for a run without hurrying its requests. */
export interface Clock extends Timers {
  /** Calls back about every `ms` until the returned function is called, all callers of one length at the same moments: each moment wakes the process once. */
  every(ms: number, callback: () => void): () => void;
  /** Resolves after the time or when aborted, whichever comes first: the caller looks at its signal. */
  sleep(ms: number, signal?: AbortSignal, hold?: boolean): Promise<void>;
}

export function createClock(timers: Timers = systemTimers()): Clock {
  return {
    now: () => timers.now(),
    after: (ms, callback, hold) => timers.after(ms, callback, hold),
    every(ms, callback) {
      let cancel = () => {};
      const arm = () => {
        const left = ms - (timers.now() % ms);
        cancel = timers.after(left < ms / 2 ? left + ms : left, round, true);
      };
      const round = () => {
        arm();
        isolated(callback);
      };
      arm();
      return () => cancel();
    },
    sleep: (ms, signal, hold = true) =>
      new Promise((resolve) => {
        const done = () => {
          cancel();
          signal?.removeEventListener("abort", done);
          resolve();
        };
        const cancel = timers.after(ms, done, hold);
        signal?.addEventListener("abort", done);
        if (signal?.aborted) done();
      }),
  };
}

/** The wall's time at the start, and from there on a clock that never jumps: when somebody sets the wall clock, no time passes. */
function systemTimers(): Timers {
  const start = Date.now() - performance.now();
  return {
    now: () => start + performance.now(),
    after(ms, callback, hold = false) {
      const timer = setTimeout(callback, ms);
      if (!hold) timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

export const systemClock: Clock = createClock();
