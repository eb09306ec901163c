import { type Line, LineSplitter, TextChunks } from "@paperclip-k8s/engine";
import type { CliParser } from "./agent-cli.ts";
import type { LogSink } from "./log-sink.ts";

const STDERR_KEPT = 16 * 1024;

/** One turn's output on its way to the host's log and, line by line, to the CLI's parser. */
export class TurnOutput {
  readonly parser: CliParser;
  readonly #log: LogSink;
  readonly #chunks = new TextChunks();
  readonly #lines = new LineSplitter();
  #stderr = "";

  constructor(parser: CliParser, log: LogSink) {
    this.parser = parser;
    this.#log = log;
  }

  /** Resolves when the host has taken these bytes: that is the back-pressure. */
  async stdout(bytes: Buffer): Promise<void> {
    for (const line of this.#lines.push(bytes)) this.#parse(line);
    for (const chunk of this.#chunks.push(bytes)) await this.#log.write("stdout", chunk);
  }

  async stderr(text: string): Promise<void> {
    this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT);
    await this.#log.write("stderr", text);
  }

  /** What stands behind the last newline. */
  async end(): Promise<void> {
    const rest = this.#lines.rest();
    if (rest !== null) this.#parse(rest);
    for (const chunk of this.#chunks.flush()) await this.#log.write("stdout", chunk);
  }

  /** The end of the CLI's stderr. */
  get stderrTail(): string {
    return this.#stderr;
  }

  /** Lines beyond the splitter's limit reach the log, not the parser. */
  #parse(line: Line): void {
    if (line.part === "whole") this.parser.push(line.bytes.toString("utf8").replace(/\r?\n$/, ""));
  }
}
