/** A Job whose result was given is deleted within minutes, if it is deleted at all. */
const KEPT = 1000;

/** The Jobs whose results this process has given to its callers, by uid: none of them is adopted here. */
export class FinishedJobs {
  readonly #jobs = new Map<string, () => void>();

  /** `deleteNow` deletes a Job that was to be kept for a while. */
  add(uid: string, deleteNow: () => void): void {
    this.#jobs.set(uid, deleteNow);
    for (const oldest of this.#jobs.keys()) {
      if (this.#jobs.size <= KEPT) return;
      this.#jobs.delete(oldest);
    }
  }

  has(uid: string): boolean {
    return this.#jobs.has(uid);
  }

  /** Another run waits for its name. */
  deleteNow(uid: string): void {
    this.#jobs.get(uid)?.();
  }
}
