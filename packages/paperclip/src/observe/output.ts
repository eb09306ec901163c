import { type Line, LineSplitter } from "@paperclip-k8s/engine";
import type { AgentCli, CliParser } from "../agent-cli/agent-cli.ts";
import { type Entry, foreignLine } from "../agent-cli/entry.ts";
import type { RunLog } from "./log.ts";
import { rawLines } from "./raw-lines.ts";
import { StderrLines } from "./stderr-lines.ts";
import { STATUS } from "./transcript/marks.ts";
import { TranscriptLines } from "./transcript/to-lines.ts";

/** One attempt's output on its way to the CLI's parser and to the host's log. */
export class AttemptOutput {
  readonly parser: CliParser;
  readonly #log: RunLog;
  readonly #transcript = new TranscriptLines();
  readonly #lines = new LineSplitter();
  readonly #stderr: StderrLines;
  readonly #isRaw: boolean;
  readonly #onTranscript: (lines: readonly string[]) => void;
  #unshown = 0;

  /** `onTranscript`: called with the lines of the transcript, also where the log has raw ones. */
  constructor(cli: AgentCli, log: RunLog, onTranscript: (lines: readonly string[]) => void = () => {}) {
    this.parser = cli.createParser();
    this.#log = log;
    this.#isRaw = log.format === "raw";
    this.#onTranscript = onTranscript;
    const write = (chunk: string) => log.write("stderr", chunk);
    this.#stderr = new StderrLines(write, (line) => cli.showStderr?.(line) ?? line);
  }

  /** Resolves when the host has taken what is shown of these bytes, which is the back-pressure. */
  async stdout(bytes: Buffer): Promise<void> {
    const shown: string[] = [];
    this.#lines.each(bytes, (of, from, to, part) => this.#read(of, from, to, part, shown));
    await this.#show(shown);
  }

  stderr(text: string): Promise<void> {
    return this.#stderr.push(text);
  }

  /** What stands behind the last newline. */
  async end(): Promise<void> {
    const rest = this.#lines.rest();
    const shown: string[] = [];
    if (rest !== null) this.#read(rest.bytes, 0, rest.bytes.length, rest.part, shown);
    await Promise.all([this.#show([...shown, ...this.#transcript.end()]), this.#stderr.end()]);
  }

  /** The end of the CLI's stderr. */
  get stderrTail(): string {
    return this.#stderr.tail;
  }

  /** Adds what is shown of a line to `shown`. */
  #read(bytes: Buffer, from: number, to: number, part: Line["part"], shown: string[]): void {
    if (part !== "whole") this.#tooLong(to - from, part);
    else this.#showLine(bytes.toString("utf8", from, withoutLineEnd(bytes, from, to)), shown);
  }

  #showLine(text: string, shown: string[]): void {
    const entries = this.#parse(text);
    const lines = this.#transcript.push(this.#isRaw ? entries.filter(({ kind }) => kind !== "other") : entries);
    this.#onTranscript(lines);
    // One by one: a line may become more than a call can have arguments.
    if (this.#isRaw) for (const line of rawLines(text)) shown.push(line);
    // What the adapter itself has to say about a raw line stands behind it.
    for (const line of lines) if (!this.#isRaw || line.startsWith(STATUS)) shown.push(line);
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
  #tooLong(bytes: number, part: Line["part"]): void {
    this.#unshown += bytes;
    if (part === "piece") return;
    void this.#log.warning(`a line of ${this.#unshown} bytes is not shown`);
    this.#unshown = 0;
  }

  /** All chunks are queued at once, so that nothing gets between the pieces of a long line. */
  async #show(lines: readonly string[]): Promise<void> {
    let written: Promise<void> | undefined;
    // The log takes them in turn: the last one is taken last.
    for (const chunk of chunksOfLines(lines)) written = this.#log.write("stdout", chunk);
    await written;
  }
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

function withoutLineEnd(bytes: Buffer, from: number, to: number): number {
  if (to === from || bytes[to - 1] !== NEWLINE) return to;
  return to - 1 > from && bytes[to - 2] === RETURN ? to - 2 : to - 1;
}

/** The most bytes that the host's log takes at once. */
const CHUNK_BYTES = 8 * 1024;

/** Lines with their ends in chunks for the log. */
function chunksOfLines(lines: readonly string[]): string[] {
  const chunks: string[] = [];
  let from = 0;
  let size = 0;
  const cut = (to: number) => {
    if (to > from) chunks.push(`${lines.slice(from, to).join("\n")}\n`);
    from = to;
    size = 0;
  };
  lines.forEach((line, at) => {
    const bytes = Buffer.byteLength(line) + 1;
    if (size + bytes > CHUNK_BYTES) cut(at);
    size += bytes;
    if (bytes <= CHUNK_BYTES) return;
    for (const piece of chunksOf(`${line}\n`)) chunks.push(piece);
    from = at + 1;
    size = 0;
  });
  cut(lines.length);
  return chunks;
}

/** Text in chunks of at most so many bytes, cut between lines, or between characters where a line is longer. */
export function chunksOf(text: string, limit = CHUNK_BYTES): string[] {
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
