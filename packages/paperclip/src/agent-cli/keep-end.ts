/** The end of a text of any length, with a note in front when something was left out. The limit counts characters. */
export function keepEnd(text: string, limit: number): string {
  const dropped = text.length - limit;
  if (dropped <= 0) return text;
  // A copy, because a slice would keep the whole text alive; and no half of a surrogate pair in front.
  const kept = Buffer.from(text.slice(dropped))
    .toString("utf8")
    .replace(/^\uFFFD/, "");
  return `[… ${dropped} characters before this are not kept]\n${kept}`;
}
