import { foldedSize } from "./fold.ts";
import { groupDigits } from "./group-digits.ts";

/**
 * Text whose folded form takes about `limit` bytes: the beginning and the end, because a build tells its error last, and between them a
 * note of what is missing.
 */
export function cut(text: string, limit: number): string {
  // No unit of a string takes more than five bytes when folded.
  if (text.length * 5 <= limit) return text;
  if (headEnd(text, limit) === text.length) return text;
  const from = headEnd(text, Math.floor((limit * 5) / 8));
  const to = tailStart(text, Math.floor((limit * 3) / 8));
  const missing = Buffer.byteLength(text.slice(from, to));
  return `${text.slice(0, from).trimEnd()}\n[… ${groupDigits(missing)} bytes left out …]\n${text.slice(to)}`;
}

function headEnd(text: string, limit: number): number {
  let size = 0;
  let at = 0;
  for (const character of text) {
    size += foldedSize(character);
    if (size > limit) return at;
    at += character.length;
  }
  return at;
}

function tailStart(text: string, limit: number): number {
  let size = 0;
  let at = text.length;
  while (at > 0) {
    const half = text.charCodeAt(at - 1);
    const step = half >= 0xdc00 && half <= 0xdfff ? 2 : 1;
    size += foldedSize(text.slice(at - step, at));
    if (size > limit) return at;
    at -= step;
  }
  return at;
}
