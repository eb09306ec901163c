import { cleanText } from "./clean-text.ts";
import { asForeign } from "./transcript/marks.ts";

const KEPT = 16 * 1024;
/** A line that is longer is shown in pieces. */
const LONGEST = 8 * 1024;

/**
 * A CLI's stderr on its way to the host's log: whole lines, so that no terminal code is cut in two and none of them can be taken for a line
 * of ours, wherever the pieces began in which they came.
 */
export class StderrLines {
  readonly #write: (chunk: string) => Promise<void>;
  #rest = "";
  #tail = "";

  constructor(write: (chunk: string) => Promise<void>) {
    this.#write = write;
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
    await this.#write(cleaned.map((line) => `${asForeign(line)}\n`).join(""));
  }
}
