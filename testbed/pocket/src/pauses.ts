import type { World } from "./world.ts";

/** Thrown into whatever a pod waits for when the pod is stopped. */
export const stopped = Symbol("stopped before a process ran");

// How a pod waits: until a time, until something it may need appears, or until it is stopped.
export class Pauses {
  readonly #world: World;
  readonly #stop = Promise.withResolvers<never>();
  #wake = Promise.withResolvers<void>();

  constructor(world: World) {
    this.#world = world;
    this.#stop.promise.catch(() => {});
  }

  stop(): void {
    this.#stop.reject(stopped);
  }

  wake(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  pause(ms: number): Promise<void> {
    return Promise.race([this.#stop.promise, this.#world.timers.sleep(ms)]);
  }

  /** The pause before the next try, cut short by `wake`. */
  retryPause(tries: number): Promise<void> {
    return Promise.race([this.#wake.promise, this.pause(this.#world.timings.retry * 2 ** Math.min(tries, 6))]);
  }

  /** Tries until it works; a failure that `tell` knows is tried again, any other is a bug. */
  async untilPossible<T>(attempt: () => T, tell: (error: unknown) => boolean): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return attempt();
      } catch (error) {
        if (!tell(error)) throw error;
        await this.retryPause(tries);
      }
    }
  }
}
