import type { StatusLine } from "@paperclip-k8s/engine";
import type { ExecutionContext } from "../host/types.ts";
import { cleanLine } from "./clean-text.ts";
import { withoutUserNames } from "./home-paths.ts";
import { STATUS } from "./transcript/marks.ts";
import { TranscriptLines } from "./transcript/to-lines.ts";

/** A host that takes longer than this for its callbacks must not delay a result. */
const HOST_TIMEOUT_MS = 30_000;

/** Resolves when the host has done its part, or has had its time for it. A host that fails at it does not fail the run. */
export async function withTimeout(part: Promise<unknown>, ms = HOST_TIMEOUT_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([part.catch(() => {}), late]);
  clearTimeout(timer);
}

/** `transcript`: as lines people can read. `raw`: as the CLI wrote them. */
export type LogFormat = "transcript" | "raw";

/** The host's types leave `system` out; its servers keep such lines, and its pages fold them ("5 system messages"). */
type Stream = "stdout" | "stderr" | "system";

/** The run's log at the host. Chunks are written one after the other, and one that the host fails to take is lost. */
export class RunLog {
  readonly #onLog: ExecutionContext["onLog"];
  #last: Promise<void> = Promise.resolve();
  /** Of the agent's output; known once the settings are read. */
  format: LogFormat = "transcript";

  constructor(onLog: ExecutionContext["onLog"]) {
    this.#onLog = onLog;
  }

  /** Resolves when the host has taken this chunk and all before it. */
  write(stream: Stream, chunk: string): Promise<void> {
    this.#last = this.#last.then(() => this.#onLog(stream as "stdout", chunk)).catch(() => {});
    return this.#last;
  }

  status(line: StatusLine): Promise<void> {
    const text = cleanLine(line.text);
    // Raw lines are for the host's own parser: ours are folded beside what it shows.
    if (line.level === "info") return this.write(this.format === "raw" ? "system" : "stdout", `${STATUS} ${text}\n`);
    return this.write("stderr", `${STATUS} ${withoutUserNames(text)}\n`);
  }

  info(text: string): Promise<void> {
    return this.status({ level: "info", text });
  }

  warning(text: string): Promise<void> {
    return this.status({ level: "warning", text });
  }

  /** Why the run failed: the last line of its transcript, where the host's page folds nothing away. */
  failure(text: string): Promise<void> {
    const lines = new TranscriptLines().push([{ kind: "error", text }]);
    return this.write("stdout", lines.map((line) => `${line}\n`).join(""));
  }

  /** Resolves when everything is written, or the host has had its time for it. */
  idle(timeoutMs?: number): Promise<void> {
    return withTimeout(this.#last, timeoutMs);
  }
}
