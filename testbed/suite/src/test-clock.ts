import { readFileSync } from "node:fs";
import { setTimeout as sleepReal, setImmediate as yieldOnce } from "node:timers/promises";
import { type Clock, createClock } from "@paperclip-k8s/engine";

/** Goes as the wall's clock does, until a test moves it: hours pass without waiting, and a slow machine makes none of them shorter. */
export interface TestClock extends Clock {
  /** Lets this much time pass at once; each timer on the way is called at its own time, in order. */
  advance(ms: number): Promise<void>;
  /** Moves on second by second until the promise is settled: for waits that are interleaved with real requests. */
  hurry<T>(until: Promise<T>): Promise<T>;
}

interface Timer {
  readonly at: number;
  readonly call: () => void;
  readonly hold: boolean;
  real: NodeJS.Timeout | undefined;
}

const STEP_MS = 1000;
/** Requests and processes need real time between two steps. */
const REAL_PAUSE_MS = 5;

export function createTestClock(): TestClock {
  const begun = { wall: Date.now(), steady: performance.now() };
  const timers = new Set<Timer>();
  let ahead = 0;
  const now = () => begun.wall + (performance.now() - begun.steady) + ahead;

  const arm = (timer: Timer) => {
    clearTimeout(timer.real);
    timer.real = setTimeout(() => fire(timer), Math.max(0, timer.at - now()));
    if (!timer.hold) timer.real.unref();
  };
  const drop = (timer: Timer) => {
    clearTimeout(timer.real);
    timers.delete(timer);
  };
  const fire = (timer: Timer) => {
    drop(timer);
    timer.call();
  };
  const after = (ms: number, call: () => void, hold = false): (() => void) => {
    const timer: Timer = { at: now() + ms, call, hold, real: undefined };
    timers.add(timer);
    arm(timer);
    return () => drop(timer);
  };

  const advance = async (ms: number) => {
    const target = now() + ms;
    for (let next = earliest(timers, target); next !== null; next = earliest(timers, target)) {
      ahead += Math.max(0, next.at - now());
      fire(next);
      // What was waiting for it goes on, and may set timers of its own.
      await yieldOnce();
    }
    ahead += Math.max(0, target - now());
    for (const timer of timers) arm(timer);
  };

  return {
    ...createClock({ now, after }),
    advance,
    async hurry(until) {
      let settled = false;
      const note = () => {
        settled = true;
      };
      until.then(note, note);
      while (!settled) {
        await advance(STEP_MS);
        await sleepReal(REAL_PAUSE_MS);
      }
      return until;
    },
  };
}

/** Goes as the wall's clock does, so many milliseconds ahead of it as the file says: for another process, whose time passes also while it is frozen. */
export function createFileClock(file: string): Clock {
  const begun = Date.now() - performance.now();
  const after = (ms: number, call: () => void, hold = false): (() => void) => {
    const timer = setTimeout(call, ms);
    if (!hold) timer.unref();
    return () => clearTimeout(timer);
  };
  return createClock({ now: () => begun + performance.now() + Number(readFileSync(file, "utf8")), after });
}

function earliest(timers: ReadonlySet<Timer>, until: number): Timer | null {
  let first: Timer | null = null;
  for (const timer of timers) if (timer.at <= until && timer.at < (first?.at ?? Number.POSITIVE_INFINITY)) first = timer;
  return first;
}
