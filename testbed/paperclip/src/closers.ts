/** What has been opened and must be closed again: last opened, first closed, and one that fails does not keep the others open. */
export class Closers {
  readonly #acts: (() => unknown)[] = [];

  add(act: () => unknown): void {
    this.#acts.push(act);
  }

  /** Keeps a part that stops. */
  keep<T extends { stop(): Promise<unknown> }>(part: T): T {
    this.add(() => part.stop());
    return part;
  }

  readonly close = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const act of this.#acts.splice(0).reverse()) {
      try {
        await act();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures.map(String).join("; "));
  };
}
