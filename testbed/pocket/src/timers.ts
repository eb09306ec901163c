// Every timer of a cluster, so that stopping it leaves none behind.
export class Timers {
  readonly #pending = new Set<NodeJS.Timeout>();
  #closed = false;

  get closed(): boolean {
    return this.#closed;
  }

  after(ms: number, act: () => void): () => void {
    if (this.#closed) return () => {};
    const timer = setTimeout(() => {
      this.#pending.delete(timer);
      act();
    }, ms);
    this.#pending.add(timer);
    return () => {
      clearTimeout(timer);
      this.#pending.delete(timer);
    };
  }

  /** Never resolves once the cluster is stopped: whoever waits is abandoned with it. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#pending) clearTimeout(timer);
    this.#pending.clear();
  }
}
