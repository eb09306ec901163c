// Random numbers that can be had again: `SEED=…` with the number a failed test names. For tests.

export interface SeededRandom {
  readonly seed: number;
  /** A whole number from 0 up to, not including, the limit. */
  readonly below: (limit: number) => number;
}

/** Mulberry32. */
export function seededRandom(seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))): SeededRandom {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { seed, below: (limit) => Math.floor(next() * limit) };
}
