/** Time as a run sees it, apart from the network's own (cluster/clock.ts): a test makes hours pass without hurrying the requests. */
export interface RunClock {
  now(): number;
  /** Calls back about every `ms` until the returned function is called; all callers of one length share a timer. */
  every(ms: number, callback: () => void): () => void;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A clock on which time passes `speed` times as fast as on the wall. */
export function createRunClock(speed = 1): RunClock {
  const start = Date.now();
  // From here on a clock that never jumps: a step of the wall's is neither patience used up nor a standstill.
  const begun = performance.now();
  const rounds = new Map<number, { readonly callbacks: Set<() => void>; readonly timer: NodeJS.Timeout }>();
  return {
    now: () => start + (performance.now() - begun) * speed,
    every(ms, callback) {
      const round = rounds.get(ms) ?? startRound(rounds, ms, speed);
      round.callbacks.add(callback);
      return () => {
        round.callbacks.delete(callback);
        if (round.callbacks.size > 0 || rounds.get(ms) !== round) return;
        clearInterval(round.timer);
        rounds.delete(ms);
      };
    },
    sleep: (ms, signal) => sleep(ms / speed, signal),
  };
}

export const wallClock: RunClock = createRunClock();

function startRound(rounds: Map<number, { callbacks: Set<() => void>; timer: NodeJS.Timeout }>, ms: number, speed: number) {
  const callbacks = new Set<() => void>();
  const timer = setInterval(() => {
    for (const callback of [...callbacks]) callback();
  }, ms / speed);
  const round = { callbacks, timer };
  rounds.set(ms, round);
  return round;
}

/** Resolves after the time or when aborted, whichever comes first: the caller looks at its signal. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
    if (signal?.aborted) done();
  });
}
