// SIGTERM or SIGINT to the runner: the pod is told to stop.

export class StopRequest {
  asked = false;
  #act: () => void = () => {};

  constructor() {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => this.ask());
  }

  /** Acts at once when the request came before. */
  onAsked(act: () => void): void {
    this.#act = act;
    if (this.asked) act();
  }

  ask(): void {
    this.asked = true;
    this.#act();
  }
}
