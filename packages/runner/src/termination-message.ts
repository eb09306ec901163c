// The container's termination message: what is known of the end where neither volume nor log can be read.
import { writeFileSync } from "node:fs";
import { cutText } from "./cut-text.ts";
import { orNull } from "./files.ts";
import { LIMITS } from "./limits.ts";
import { MAC_BYTES, sign } from "./mac.ts";
import type { TerminationMessage } from "./records.ts";

/** At most 4,096 bytes: escapes can make a short line long, so the final line gives way first, then the error. */
export function fitTerminationMessage(message: TerminationMessage, key: Buffer | null): string {
  const limit = LIMITS.terminationMessage - (key === null ? 0 : MAC_BYTES);
  const text = shorten(message, limit);
  return key === null ? text : sign(text, key);
}

function shorten(message: TerminationMessage, limit: number): string {
  const cut = (text: string | null, bytes: number): string | null => (text === null ? null : cutText(text, bytes));
  for (let bytes: number = LIMITS.finalLine; bytes >= 1; bytes = Math.floor(bytes / 2)) {
    const error = cut(message.error, Math.min(bytes, LIMITS.error));
    const text = JSON.stringify({ ...message, finalLine: cut(message.finalLine, bytes), error });
    if (Buffer.byteLength(text) <= limit) return text;
  }
  return JSON.stringify({ ...message, finalLine: null, error: null });
}

export function writeTerminationMessage(path: string | undefined, message: TerminationMessage, key: Buffer | null): void {
  // Where it cannot be written, the exit code still says how the CLI ended.
  if (path) orNull(() => writeFileSync(path, fitTerminationMessage(message, key)));
}
