import { systemClock, type Timers } from "../clock.ts";

/** `first`: a person waits for its effect, as for a cancel's. `last`: nothing waits for it. */
export type Priority = "first" | "usual" | "last";

interface PaceOptions {
  readonly perSecond: number;
  /** So many may go at once after a pause. */
  readonly burst: number;
  readonly clock?: Timers;
}

/** Lets requests go at a bounded rate: a restarted server that adopts hundreds of runs must not flood the API server. */
export class Pace {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #clock: Timers;
  /** By priority; each set in the order of arrival. */
  readonly #waiting: Readonly<Record<Priority, Set<() => void>>> = { first: new Set(), usual: new Set(), last: new Set() };
  #left: number;
  #at: number;
  #isArmed = false;

  constructor({ perSecond, burst, clock = systemClock }: PaceOptions) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#clock = clock;
    this.#left = burst;
    this.#at = clock.now();
  }

  /** Resolves when the request may go, or at once when it is not wanted any more. */
  wait(priority: Priority, signals: readonly AbortSignal[]): Promise<void> {
    if (signals.some(({ aborted }) => aborted)) return Promise.resolve();
    return new Promise((resolve) => {
      const go = () => {
        this.#waiting[priority].delete(go);
        for (const signal of signals) signal.removeEventListener("abort", go);
        resolve();
      };
      this.#waiting[priority].add(go);
      for (const signal of signals) signal.addEventListener("abort", go, { once: true });
      this.#release();
    });
  }

  #release(): void {
    const now = this.#clock.now();
    this.#left = Math.min(this.#burst, this.#left + (now - this.#at) * this.#perMs);
    this.#at = now;
    for (const priority of ["first", "usual", "last"] as const)
      for (const go of this.#waiting[priority]) {
        if (this.#left < 1) {
          this.#arm();
          return;
        }
        this.#left -= 1;
        go();
      }
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    const release = () => {
      this.#isArmed = false;
      this.#release();
    };
    this.#clock.after(Math.max(1, Math.ceil((1 - this.#left) / this.#perMs)), release, true);
  }
}
