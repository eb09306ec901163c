// Ends the CLI: SIGTERM to its group, SIGKILL after a grace; the first cause is the one that counts.

import type { EndCause } from "../records.ts";
import { signalGroup, terminateGroup } from "./process-group.ts";

export class CliEnder {
  cause: EndCause | null = null;
  readonly #group: number;
  #over = false;
  #killAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(group: number, exited: Promise<unknown>) {
    this.#group = group;
    void exited.then(() => this.#settle());
  }

  /** An exit that has already happened is heard first: it waits in the event loop's next turn. */
  end(cause: EndCause, graceMs: number): void {
    setImmediate(() => this.#end(cause, graceMs));
  }

  #end(cause: EndCause, graceMs: number): void {
    if (this.#over) return;
    this.cause ??= cause;
    const killAt = performance.now() + graceMs;
    terminateGroup(this.#group);
    // A stop from outside may leave less time than a limit reached before it.
    if (killAt >= this.#killAt) return;
    this.#killAt = killAt;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => signalGroup(this.#group, "SIGKILL"), graceMs);
  }

  #settle(): void {
    this.#over = true;
    if (this.#timer) clearTimeout(this.#timer);
  }
}
