// SIGTERM or SIGINT to the runner: the pod is being stopped.

export class StopRequest {
  /** `performance.now()` of the first request. */
  askedAt: number | null = null;
  #onAsked: () => void = () => {};

  constructor() {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => this.ask());
  }

  get asked(): boolean {
    return this.askedAt !== null;
  }

  /** Called at once when the request came before. */
  onAsked(handle: () => void): void {
    this.#onAsked = handle;
    if (this.asked) handle();
  }

  ask(): void {
    this.askedAt ??= performance.now();
    this.#onAsked();
  }
}
