import type { Entry } from "./entry.ts";
import { mark } from "./marks.ts";
import { toLines } from "./to-lines.ts";

/** One turn's raw output as the lines of its transcript, for the host's log. */
export class TranscriptLines {
  readonly #describe: (rawLine: string) => readonly Entry[];
  #last: Entry["kind"] | null = null;

  constructor(describe: (rawLine: string) => readonly Entry[]) {
    this.#describe = describe;
  }

  /** Lines without newlines; none when the raw line says nothing to a reader. */
  push(rawLine: string): string[] {
    return this.#describe(rawLine).flatMap((entry) => {
      const lines = toLines(entry);
      if (lines.length === 0) return [];
      const gap = this.#gap(entry.kind);
      this.#last = entry.kind;
      return [...gap, ...lines];
    });
  }

  // The host joins texts of one kind that follow each other; an empty line keeps them apart as paragraphs.
  #gap(kind: Entry["kind"]): string[] {
    if (kind !== this.#last) return [];
    if (kind === "assistant") return [mark.assistantMore];
    return kind === "thinking" ? [mark.thinkingMore] : [];
  }
}
