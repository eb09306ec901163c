import type { StatusLine } from "@paperclip-k8s/engine";
import type { ExecutionContext } from "../host/types.ts";
import { withTimeout } from "./with-timeout.ts";

/** Hands text to the host one chunk after the other; the host's own trouble never ends a run. */
export class LogSink {
  readonly #onLog: ExecutionContext["onLog"];
  #last: Promise<void> = Promise.resolve();
  failures = 0;

  constructor(onLog: ExecutionContext["onLog"]) {
    this.#onLog = onLog;
  }

  /** Resolves when the host has taken this chunk and all before it. */
  write(stream: "stdout" | "stderr", chunk: string): Promise<void> {
    const next = this.#last.then(async () => {
      try {
        await this.#onLog(stream, chunk);
      } catch {
        this.failures += 1;
      }
    });
    this.#last = next;
    return next;
  }

  status(line: StatusLine): Promise<void> {
    return this.write(line.level === "info" ? "stdout" : "stderr", `[paperclip] ${line.text}\n`);
  }

  info(text: string): Promise<void> {
    return this.status({ level: "info", text });
  }

  warning(text: string): Promise<void> {
    return this.status({ level: "warning", text });
  }

  /** All that was written has been taken, or the host had its time for it: a log that hangs must not hold a result. */
  idle(patienceMs?: number): Promise<void> {
    return withTimeout(this.#last, patienceMs);
  }
}
