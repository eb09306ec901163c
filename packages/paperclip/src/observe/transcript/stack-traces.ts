/** A line of a stack trace: `at run (/app/main.js:10:5)`, `at file:///app/main.js:10:5`, `... 12 more`. */
function isFrame(line: string): boolean {
  const text = line.trim();
  if (!text.startsWith("at ")) return text.startsWith("... ") && /^\.\.\. \d+ more$/.test(text);
  // Only its end is looked at: the line can be of any length.
  return /(?:\)|:\d+|<anonymous>)$/.test(text.slice(-16));
}

/** Where a reader finds what is left out; the run's page names the command for it. */
const folded = (count: number): string => `… ${count} lines of a stack trace, in the pod's log`;

/** Lines on their way to a reader: of a stack trace only its length is shown, once its last line is known. */
export class StackTraces {
  #first = "";
  #count = 0;

  push(line: string): string[] {
    if (!isFrame(line)) return this.#count === 0 ? [line] : [...this.end(), line];
    if (this.#count === 0) this.#first = line;
    this.#count += 1;
    return [];
  }

  /** What was held back; one line alone may be anything, and is shown. */
  end(): string[] {
    const count = this.#count;
    this.#count = 0;
    if (count === 0) return [];
    return [count === 1 ? this.#first : folded(count)];
  }
}

/** A text of several lines with its stack traces folded. */
export function foldTraces(text: string): string {
  const traces = new StackTraces();
  return [...text.split("\n").flatMap((line) => traces.push(line)), ...traces.end()].join("\n");
}
