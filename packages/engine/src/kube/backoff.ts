export interface Backoff {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Delay before try number `failures + 1`: doubles up to the maximum, half of it at random so that servers do not return in step. */
export function backoffMs(backoff: Backoff, failures: number, random: () => number): number {
  const full = Math.min(backoff.maxMs, backoff.minMs * 2 ** Math.min(failures - 1, 30));
  return full * (0.5 + random() / 2);
}
