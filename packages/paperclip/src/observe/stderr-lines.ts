import { cleanText } from "./clean-text.ts";
import { withoutUserNames } from "./home-paths.ts";
import { asForeign } from "./transcript/marks.ts";
import { shortLine } from "./transcript/shorten.ts";
import { StackTraces } from "./transcript/stack-traces.ts";

const KEPT = 16 * 1024;
/** A line that is longer is shown in pieces. */
const LONGEST = 8 * 1024;
/** The most that is shown of such a piece. */
const SHOWN_CHARS = 1000;

/**
 * A CLI's stderr on its way to the host's log: whole lines, so that no terminal code is cut in two and none of them can be taken for a line
 * of ours, wherever the pieces began in which they came. Stack traces are folded; `tail` has everything.
 */
export class StderrLines {
  readonly #write: (chunk: string) => Promise<void>;
  readonly #readable: (line: string) => string;
  readonly #traces = new StackTraces();
  #rest = "";
  #tail = "";

  /** `readable`: how the CLI's own lines are shown. */
  constructor(write: (chunk: string) => Promise<void>, readable: (line: string) => string) {
    this.#write = write;
    this.#readable = readable;
  }

  async push(text: string): Promise<void> {
    const lines = (this.#rest + text).split("\n");
    const last = lines.pop() ?? "";
    const pieces = [...lines, ...(last.length > LONGEST ? [last] : [])];
    this.#rest = last.length > LONGEST ? "" : last;
    await this.#show(pieces);
  }

  /** Writes what follows the last newline, if anything. */
  async end(): Promise<void> {
    const rest = this.#rest;
    this.#rest = "";
    if (rest !== "") await this.#show([rest]);
    await this.#send(this.#traces.end());
  }

  /** The last part of stderr, cleaned. */
  get tail(): string {
    return this.#tail;
  }

  async #show(lines: readonly string[]): Promise<void> {
    // `cleanText` turns a carriage return within a line into a newline.
    const cleaned = lines.flatMap((line) => cleanText(line.endsWith("\r") ? line.slice(0, -1) : line).split("\n"));
    if (cleaned.length === 0) return;
    this.#tail = `${this.#tail}${cleaned.join("\n")}\n`.slice(-KEPT).toWellFormed();
    await this.#send(cleaned.flatMap((line) => this.#traces.push(shortLine(withoutUserNames(this.#readable(line)), SHOWN_CHARS))));
  }

  async #send(lines: readonly string[]): Promise<void> {
    if (lines.length > 0) await this.#write(lines.map((line) => `${asForeign(line)}\n`).join(""));
  }
}
