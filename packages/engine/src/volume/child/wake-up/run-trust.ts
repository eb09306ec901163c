/** A run's files are polled less often after so many announced growths in a row; each growth that was not announced doubles it. */
const firstNeeded = 6;
const mostNeeded = 96;
/** How many times less often at first. */
const slower = 4;
/** What each further announced growth adds to the interval. */
const stepMs = 40;
/** The longest interval: a line whose wake-up is lost after all is no later than this. */
const longestMs = 1_000;

/** For a run that has not shown yet whether its wake-ups arrive, where those of other runs do. */
const likelyMs = 250;

/** What the runs of one reader have in common: how many growths in a row were announced, of whichever run. */
export interface Way {
  inRow: number;
}

/** Whether the wake-ups of one run arrive, learned from what its files did. Both of its files have it in common. */
export class RunTrust {
  /** Called when it is lost: what waits longer than it should is to be polled. */
  onLost: () => void = () => {};
  readonly #way: Way;
  #inRow = 0;
  #needed = firstNeeded;

  constructor(way: Way = { inRow: 0 }) {
    this.#way = way;
  }

  /** A growth that was announced. */
  announced(): void {
    this.#inRow++;
    this.#way.inRow++;
    // A way that lost some long ago is as good as any other.
    if (this.#inRow > 8 * this.#needed) this.#needed = Math.max(firstNeeded, this.#needed / 2);
  }

  /** A growth that only a poll has found. */
  missed(): void {
    this.lose();
    this.#needed = Math.min(mostNeeded, this.#needed * 2);
  }

  /** Nobody listens for a while. */
  lose(): void {
    this.#way.inRow = 0;
    const had = this.#inRow >= this.#needed;
    this.#inRow = 0;
    if (had) this.onLost();
  }

  /** Until the next poll, where it would be `usualMs` without wake-ups. */
  interval(usualMs: number): number {
    const beyond = this.#inRow - this.#needed;
    const isLikely = this.#way.inRow >= firstNeeded && this.#needed === firstNeeded;
    if (beyond < 0) return isLikely ? Math.max(usualMs, likelyMs) : usualMs;
    return Math.min(longestMs, Math.max(usualMs * slower, usualMs + beyond * stepMs));
  }
}
