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
  /** Calls back about every `ms` until the returned function is called; all callers of one length share a timer. */
  every(ms: number, callback: () => void): () => void;
  /** Resolves after the time or when aborted, whichever comes first: the caller looks at its signal. */
  sleep(ms: number, signal?: AbortSignal, hold?: boolean): Promise<void>;
}

interface Round {
  readonly callbacks: Set<() => void>;
  cancel: () => void;
}

export function createClock(timers: Timers = systemTimers()): Clock {
  const rounds = new Map<number, Round>();
  return {
    now: () => timers.now(),
    after: (ms, callback, hold) => timers.after(ms, callback, hold),
    every(ms, callback) {
      const round = rounds.get(ms) ?? startRound(timers, ms);
      rounds.set(ms, round);
      // Wrapped: the same function may be added twice.
      const own = () => callback();
      round.callbacks.add(own);
      return () => {
        round.callbacks.delete(own);
        if (round.callbacks.size > 0 || rounds.get(ms) !== round) return;
        round.cancel();
        rounds.delete(ms);
      };
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

function startRound(timers: Timers, ms: number): Round {
  const round: Round = { callbacks: new Set(), cancel: () => {} };
  const arm = (due: number) => {
    round.cancel = timers.after(
      Math.max(0, due - timers.now()),
      () => {
        // A round that comes late is not made up for.
        const now = timers.now();
        arm(due + ms > now ? due + ms : now + ms);
        for (const callback of [...round.callbacks]) isolated(callback);
      },
      true,
    );
  };
  arm(timers.now() + ms);
  return round;
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
