/** First character of a transcript line. The host trims lines, so only a visible character can show what a line is. */
export const mark = {
  assistant: "●",
  assistantMore: "│",
  thinking: "◌",
  thinkingMore: "┊",
  call: "▸",
  success: "✓",
  failure: "✗",
  stepGoesOn: "□",
  stepEnd: "■",
  error: "✖",
  init: "◆",
  /** Before a line that is not ours and would be taken for one. */
  foreign: "·",
} as const;

export const STATUS = "[paperclip]";

const ours: ReadonlySet<string> = new Set(Object.values(mark));

/** Whether a trimmed line would be read as one of ours. */
export const looksLikeOurs = (line: string): boolean => ours.has(line.charAt(0)) || line.startsWith(STATUS);
