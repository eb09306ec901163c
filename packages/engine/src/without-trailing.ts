/** A text without the characters of one kind at its end, but for the first `keep` of the whole text. `/x+$/` begins anew at each x: a long run of them in the middle would keep the server busy. */
export function withoutTrailing(text: string, character: string, keep = 0): string {
  let end = text.length;
  while (end > keep && text[end - 1] === character) end--;
  return text.slice(0, end);
}
