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
  readonly #waiting: Readonly<Record<Priority, Set<() => void>>> = { first: new Set(), usual: new Set(), last: new Set() };
  #left: number;
  #at: number;
  #armed = false;

  constructor({ perSecond, burst, clock = systemClock }: PaceOptions) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#clock = clock;
    this.#left = burst;
    this.#at = clock.now();
  }

  /** Resolves when it is this request's turn, or at once when it is not wanted any more. */
  wait(priority: Priority, signals: readonly AbortSignal[]): Promise<void> {
    this.#refill();
    if (signals.some(({ aborted }) => aborted)) return Promise.resolve();
    if (this.#left >= 1 && this.#isIdle) {
      this.#left -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const go = () => {
        this.#waiting[priority].delete(go);
        for (const signal of signals) signal.removeEventListener("abort", go);
        resolve();
      };
      this.#waiting[priority].add(go);
      for (const signal of signals) signal.addEventListener("abort", go, { once: true });
      this.#arm();
    });
  }

  get #isIdle(): boolean {
    return Object.values(this.#waiting).every(({ size }) => size === 0);
  }

  #refill(): void {
    const now = this.#clock.now();
    this.#left = Math.min(this.#burst, this.#left + (now - this.#at) * this.#perMs);
    this.#at = now;
  }

  #arm(): void {
    if (this.#armed || this.#isIdle) return;
    this.#armed = true;
    const release = () => {
      this.#armed = false;
      this.#release();
      this.#arm();
    };
    this.#clock.after(Math.max(1, Math.ceil((1 - this.#left) / this.#perMs)), release, true);
  }

  #release(): void {
    this.#refill();
    for (const priority of ["first", "usual", "last"] as const)
      for (const go of this.#waiting[priority]) {
        if (this.#left < 1) return;
        this.#left -= 1;
        go();
      }
  }
}
