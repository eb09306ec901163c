import type { Clock } from "./clock.ts";
import { deferred } from "./deferred.ts";
import { isolated } from "./errors.ts";
import type { Fact } from "./outcome/observation.ts";
import { reduce } from "./outcome/reduce.ts";
import type { RunState } from "./outcome/state.ts";
import type { RunOutcome } from "./run-outcome.ts";
import type { Timeouts } from "./timeouts.ts";

type Listener = (before: RunState, after: RunState) => void;

/** Folds each fact about a run into its state and calls the listeners. Nothing of that can throw at the caller of `observe`. */
export class LiveRun {
  readonly timeouts: Timeouts;
  #state: RunState;
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  readonly #settled = deferred<RunOutcome>();
  readonly settled = this.#settled.promise;

  constructor(state: RunState, timeouts: Timeouts, clock: Clock) {
    this.timeouts = timeouts;
    this.#state = state;
    this.#clock = clock;
  }

  get state(): RunState {
    return this.#state;
  }

  observe(fact: Fact): void {
    const before = this.#state;
    const at = this.#clock.now();
    try {
      this.#become(before, reduce(before, { at, ...fact }, this.timeouts));
    } catch (error) {
      const unreadable = { kind: "data-unreadable", what: fact.kind, error: String(error) } as const;
      this.#become(before, reduce(before, { at, ...unreadable }, this.timeouts));
    }
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #become(before: RunState, after: RunState): void {
    this.#state = after;
    for (const listener of [...this.#listeners]) isolated(() => listener(before, after));
    if (before.outcome === null && after.outcome !== null) this.#settled.resolve(after.outcome);
  }
}
