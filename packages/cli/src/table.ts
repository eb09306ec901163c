import { cleanLine } from "@paperclip-k8s/paperclip/clean-text";

/** Widest line of everything printed. */
export const WIDTH = 100;
const GAP = "  ";

interface Column {
  readonly title: string;
  /** At most so wide; the last column takes what is left and is wrapped. */
  readonly max?: number;
}

/** Columns as wide as they need to be; the last one is wrapped below itself, so that no line is wider than WIDTH. */
export function table(columns: readonly Column[], cells: readonly (readonly string[])[]): string[] {
  // Cleaned before the columns are measured, because removed characters need no room.
  const rows = cells.map((row) => row.map((cell) => cleanLine(cell)));
  const fixed = columns.slice(0, -1).map(({ title, max }, at) => {
    const longest = Math.max(title.length, ...rows.map((row) => (row[at] ?? "").length));
    return Math.min(longest, Math.max(max ?? WIDTH, title.length));
  });
  const indent = fixed.reduce((sum, width) => sum + width + GAP.length, 0);
  const last = Math.max(20, WIDTH - indent);
  const line = (row: readonly string[]) => {
    const head = fixed.map((width, at) => cut(row[at] ?? "", width).padEnd(width)).join(GAP);
    const [first = "", ...more] = wrap(row[fixed.length] ?? "", last);
    const start = fixed.length === 0 ? "" : `${head}${GAP}`;
    return [`${start}${first}`.trimEnd(), ...more.map((text) => " ".repeat(Math.min(indent, WIDTH - text.length)) + text)];
  };
  return [columns.map(({ title }) => title), ...rows].flatMap(line);
}

/** Breaks at blanks. A word that is too long for the column stands in a line of its own, whole if a page can hold it: it may be copied. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter((part) => part !== "")) {
    if (line.length + 1 + word.length > width && (line !== "" || lines.length === 0)) {
      if (line !== "" || word.length > width) lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
    for (; line.length > WIDTH; line = line.slice(WIDTH)) lines.push(line.slice(0, WIDTH));
    if (line.length > width) {
      lines.push(line);
      line = "";
    }
  }
  return line === "" && lines.length > 0 ? lines : [...lines, line];
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

/** "3 runs", "1 run". */
export const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;

/** With a full stop, so that another sentence can follow. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** Since a moment, in the largest unit that says something. */
export function age(since: string | null, now: number): string {
  const seconds = since === null ? Number.NaN : Math.floor((now - Date.parse(since)) / 1000);
  if (!Number.isFinite(seconds)) return "-";
  if (seconds < 120) return `${Math.max(0, seconds)}s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
