import { type Line, LineSplitter } from "@paperclip-k8s/engine";
import type { AgentCli, CliParser } from "../agent-cli/agent-cli.ts";
import { type Entry, foreignLine } from "../agent-cli/entry.ts";
import type { RunLog } from "./log.ts";
import { rawLines } from "./raw-lines.ts";
import { StderrLines } from "./stderr-lines.ts";
import { TranscriptLines } from "./transcript/to-lines.ts";

/** `transcript`: as lines people can read. `raw`: as the CLI wrote them. */
export type LogFormat = "transcript" | "raw";

/** One attempt's output on its way to the CLI's parser and to the host's log. */
export class AttemptOutput {
  readonly parser: CliParser;
  readonly #log: RunLog;
  readonly #transcript = new TranscriptLines();
  readonly #lines = new LineSplitter();
  readonly #stderr: StderrLines;
  readonly #isRaw: boolean;
  #unshown = 0;

  constructor(cli: AgentCli, log: RunLog, format: LogFormat = "transcript") {
    this.parser = cli.createParser();
    this.#log = log;
    this.#isRaw = format === "raw";
    const write = (chunk: string) => log.write("stderr", chunk);
    this.#stderr = new StderrLines(write, this.#isRaw ? null : (line) => cli.showStderr?.(line) ?? line);
  }

  /** Resolves when the host has taken what is shown of these bytes, which is the back-pressure. */
  async stdout(bytes: Buffer): Promise<void> {
    await this.#show(this.#lines.push(bytes).flatMap((line) => this.#read(line)));
  }

  stderr(text: string): Promise<void> {
    return this.#stderr.push(text);
  }

  /** What stands behind the last newline. */
  async end(): Promise<void> {
    const rest = this.#lines.rest();
    const lines = rest === null ? [] : this.#read(rest);
    await Promise.all([this.#show([...lines, ...this.#transcript.end()]), this.#stderr.end()]);
  }

  /** The end of the CLI's stderr. */
  get stderrTail(): string {
    return this.#stderr.tail;
  }

  #read(line: Line): string[] {
    if (line.part !== "whole") return this.#tooLong(line);
    const text = line.bytes.toString("utf8").replace(/\r?\n$/, "");
    const entries = this.#parse(text);
    if (!this.#isRaw) return this.#transcript.push(entries);
    // What the adapter itself has to say about a line stands behind it.
    return [...rawLines(text), ...this.#transcript.push(entries.filter(({ kind }) => kind === "status"))];
  }

  /** An agent can write anything: a line that a parser fails at is shown as it is, and costs no more than itself. */
  #parse(text: string): readonly Entry[] {
    try {
      return this.parser.push(text);
    } catch {
      return foreignLine(text);
    }
  }

  /** Such a line is no event of any CLI; it stands in the output file. */
  #tooLong(line: Line): string[] {
    this.#unshown += line.bytes.length;
    if (line.part === "piece") return [];
    void this.#log.warning(`a line of ${this.#unshown} bytes is not shown`);
    this.#unshown = 0;
    return [];
  }

  /** All chunks are queued at once, so that nothing gets between the pieces of a long line. */
  async #show(lines: readonly string[]): Promise<void> {
    const chunks = chunksOf(lines.map((line) => `${line}\n`).join(""));
    await Promise.all(chunks.map((chunk) => this.#log.write("stdout", chunk)));
  }
}

/** Text in chunks of at most so many bytes, cut between lines, or between characters where a line is longer. */
export function chunksOf(text: string, limit = 8 * 1024): string[] {
  const bytes = Buffer.from(text);
  const chunks: string[] = [];
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    to = Math.min(from + limit, bytes.length);
    const newline = to === bytes.length ? -1 : bytes.lastIndexOf("\n", to - 1);
    if (newline >= from) to = newline + 1;
    // A byte that continues a character begins none.
    else while (to < bytes.length && ((bytes[to] ?? 0) & 0xc0) === 0x80) to--;
    chunks.push(bytes.toString("utf8", from, to));
  }
  return chunks;
}
