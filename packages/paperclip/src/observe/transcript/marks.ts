/** First character of a transcript line. The host trims lines, so only a visible character can show what a line is. */
export const mark = {
  assistant: "●",
  assistantMore: "│",
  thinking: "◌",
  thinkingMore: "┊",
  call: "▸",
  success: "✓",
  failure: "✗",
  stepEnd: "■",
  error: "✖",
  init: "◆",
  /** Before a line that is not ours and would be taken for one. */
  foreign: "·",
} as const;

export const STATUS = "[paperclip]";

const ours: ReadonlySet<string> = new Set(Object.values(mark));

const SPACE = 0x20;
const DELETE = 0x7f;

/** Characters that a reader does not see. */
const UNSEEN = /^[\s\p{Default_Ignorable_Code_Point}]+/u;

/** A line that others wrote, with a mark before it where it would be read as one of ours, also by a reader who overlooks what is invisible. */
export function asForeign(line: string): string {
  const first = line.charCodeAt(0);
  // Most lines begin with a visible ASCII character, which stays the first whatever follows it, and none of ours begins with another than this.
  if (first > SPACE && first < DELETE && line[0] !== STATUS[0]) return line;
  const seen = line.replace(UNSEEN, "").slice(0, 2 * STATUS.length);
  const isOurs = ours.has(seen.charAt(0)) || seen.normalize("NFKC").toLowerCase().startsWith(STATUS);
  return isOurs ? `${mark.foreign} ${line}` : line;
}
