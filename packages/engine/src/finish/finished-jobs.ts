/** A Job that was settled is removed within minutes, if it is removed at all. */
const KEPT = 1000;

/** The Jobs this process has settled, by uid: their results are with the caller, and nobody here takes them over. */
export class FinishedJobs {
  readonly #jobs = new Map<string, () => void>();

  /** `hurry` removes the Job now, where that was put off. */
  add(uid: string, hurry: () => void): void {
    this.#jobs.set(uid, hurry);
    for (const oldest of this.#jobs.keys()) {
      if (this.#jobs.size <= KEPT) return;
      this.#jobs.delete(oldest);
    }
  }

  has(uid: string): boolean {
    return this.#jobs.has(uid);
  }

  /** Somebody waits for its name. */
  hurry(uid: string): void {
    this.#jobs.get(uid)?.();
  }
}
