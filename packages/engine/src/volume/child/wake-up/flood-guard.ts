/** Counted in pieces of time as long as this. */
const windowMs = 100;
/** So many that belong to no run here: more than runs that have just ended can send. */
const mostUnknown = 200;
/** Of those that do belong to one: a run sends 40 at most, one for each file every 5 ms. */
const perRun = 60;
/** More than the socket's buffer holds: after a call that took long they all come at once. */
const buffered = 500;
/** So many runs count: with more that all write without a pause, polling costs less than their wake-ups. */
const mostRuns = 50;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** A socket that has been open this long was closed for something that is over. */
const calmMs = 60_000;

/** Tells when datagrams come faster than runs can send: each costs the process some microseconds, however quickly it is dropped. */
export class FloodGuard {
  #since = Number.NEGATIVE_INFINITY;
  #unknown = 0;
  #known = 0;
  #pauseMs = firstPauseMs;
  #opened = 0;

  /** True = too many: do not listen for a while. */
  count(known: boolean, runs: number, now: number): boolean {
    if (now - this.#since >= windowMs) {
      this.#since = now;
      this.#unknown = this.#known = 0;
    }
    if (known) this.#known++;
    else this.#unknown++;
    return this.#unknown > mostUnknown || this.#known > buffered + Math.min(runs, mostRuns) * perRun;
  }

  /** The socket is open, again or for the first time. */
  opened(now: number): void {
    this.#opened = now;
    this.#since = Number.NEGATIVE_INFINITY;
  }

  /** How long nobody listens: longer each time, unless it was calm in between. */
  pause(now: number): { readonly ms: number; readonly first: boolean } {
    if (now - this.#opened >= calmMs) this.#pauseMs = firstPauseMs;
    // Closed until it can be opened again, which may take several pauses.
    this.#opened = Number.POSITIVE_INFINITY;
    const ms = this.#pauseMs;
    this.#pauseMs = Math.min(longestPauseMs, ms * 2);
    return { ms, first: ms === firstPauseMs };
  }
}
