// SIGTERM or SIGINT to the runner: the pod is told to stop.

export class StopRequest {
  /** `performance.now()` of the first request. */
  askedAt: number | null = null;
  #act: () => void = () => {};

  constructor() {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => this.ask());
  }

  get asked(): boolean {
    return this.askedAt !== null;
  }

  /** Acts at once when the request came before. */
  onAsked(act: () => void): void {
    this.#act = act;
    if (this.asked) act();
  }

  ask(): void {
    this.askedAt ??= performance.now();
    this.#act();
  }
}
