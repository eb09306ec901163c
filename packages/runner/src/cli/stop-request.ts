// SIGTERM or SIGINT to the runner: the pod is being stopped.

export class StopRequest {
  /** `performance.now()` of the first request. */
  askedAt: number | null = null;
  #onAsked: () => void = () => {};

  constructor() {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => this.ask());
    // The kernel protects a pod's first process from signals that it does not handle, but not while Node starts a program: its main thread
    // then blocks all signals, so another thread gets this one and the whole process dies of it. Programs send it to the first process in
    // good faith; an agent that sends others at that moment ends only its own run, as a failure.
    process.on("SIGHUP", () => {});
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
