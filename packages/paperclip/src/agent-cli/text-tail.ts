/** Keeps the end of a text of any length. */
export interface TextTail {
  add(text: string): void;
  /** The kept end, with a note in front when something was dropped. */
  read(): string;
  readonly dropped: number;
}

// The limit counts characters; memory stays below twice that whatever is added.
export function createTextTail(limit: number, separator = "\n\n"): TextTail {
  let kept = "";
  let dropped = 0;
  return {
    get dropped() {
      return dropped;
    },
    add(text) {
      const surplusOfText = Math.max(0, text.length - limit);
      const next = (kept === "" ? "" : kept + separator) + text.slice(surplusOfText);
      const surplus = Math.max(0, next.length - limit);
      dropped += surplusOfText + surplus;
      // A copy, because a slice would keep the whole text alive; and no half of a surrogate pair in front.
      kept = Buffer.from(next.slice(surplus))
        .toString("utf8")
        .replace(/^\uFFFD/, "");
    },
    read() {
      return dropped === 0 ? kept : `[… ${dropped} characters before this are not kept]\n${kept}`;
    },
  };
}
