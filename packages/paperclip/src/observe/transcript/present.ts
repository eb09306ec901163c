import type { Entry } from "../../agent-cli/entry.ts";
import { mark } from "./marks.ts";
import { toLines } from "./to-lines.ts";

/** What a CLI's output means, as the lines of its transcript for the host's log. */
export class TranscriptLines {
  #last: Entry["kind"] | null = null;

  /** Lines without newlines; none when there is nothing to show. */
  push(entries: readonly Entry[]): string[] {
    return entries.flatMap((entry) => {
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
