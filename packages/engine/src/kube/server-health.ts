import type { Timers } from "../clock.ts";

/** A request without any answer for this long: the API server is frozen, or as good as. */
const SILENT_MS = 10_000;
/** Nothing was heard for this long: the server is asked something small. A healthy watch may be quiet for a minute. */
const QUIET_MS = 20_000;
/** A server known to be silent is asked more often. */
const SILENT_PAUSE_MS = 5000;

/** Called with the time since when the server is silent, or with null when it answers again. */
type SilenceListener = (since: number | null) => void;

/** Whether the API server answers at all. One that is frozen, not dead, keeps its connections open and accepts new ones: only the time without an answer shows it. */
export class ServerHealth {
  readonly #clock: Timers;
  readonly #probe: () => Promise<unknown>;
  readonly #listeners = new Set<SilenceListener>();
  #heardAt: number;
  #silentSince: number | null = null;
  #stopProbing = () => {};

  /** `probe`: any small request; it is made only while there are listeners and nothing else comes from the server. */
  constructor(clock: Timers, probe: () => Promise<unknown>) {
    this.#clock = clock;
    this.#probe = probe;
    this.#heardAt = clock.now();
  }

  /** A request goes out; call the result when it was answered, or failed for another reason than silence. */
  sent(): () => void {
    const since = this.#clock.now();
    return this.#clock.after(SILENT_MS, () => {
      if (this.#heardAt <= since) this.#become(since);
    });
  }

  /** Something came from the server: an answer, a line of a watch. */
  heard(): void {
    this.#heardAt = this.#clock.now();
    this.#become(null);
  }

  /** Calls back at once if the server is silent, then with every change. */
  listen(listener: SilenceListener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#probeAfter(QUIET_MS);
    if (this.#silentSince !== null) listener(this.#silentSince);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stopProbing();
    };
  }

  #become(since: number | null): void {
    if ((this.#silentSince === null) === (since === null)) return;
    this.#silentSince = since;
    for (const listener of [...this.#listeners]) listener(since);
  }

  #probeAfter(ms: number): void {
    this.#stopProbing = this.#clock.after(ms, () => {
      const left = this.#heardAt + QUIET_MS - this.#clock.now();
      if (left > 0) return this.#probeAfter(left);
      let stopped = false;
      this.#stopProbing = () => {
        stopped = true;
      };
      const next = () => {
        if (!stopped) this.#probeAfter(this.#silentSince === null ? QUIET_MS : SILENT_PAUSE_MS);
      };
      this.#probe().then(next, next);
    });
  }
}
