// A newline is ` ⏎ `; a ⏎ of the text itself gets a backslash. So each ⏎ has either a space or a backslash of ours before it.
const newline = " ⏎ ";

/** A text of several lines as one line. */
export const fold = (text: string): string => text.replaceAll("⏎", "\\⏎").replaceAll("\n", newline);

/** The text that was folded; a newline at its end may have lost its space to the host's trimming. */
export const unfold = (line: string): string => line.replace(/ ⏎(?: |$)|\\⏎/g, (found) => (found.startsWith(" ") ? "\n" : "⏎"));

/** 12345 as `12,345`; lighter than a formatter of `Intl`, and the same in every browser. */
export const groupDigits = (count: number): string => String(Math.round(count)).replace(/\B(?=(?:\d{3})+$)/g, ",");
