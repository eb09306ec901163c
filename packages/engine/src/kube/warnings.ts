/** Texts of Warning headers, which Node joins by commas: `299 - "text", 299 - "other \"text\""`. */
export function warningTexts(header: string | readonly string[] | undefined): readonly string[] {
  const text = typeof header === "string" ? header : (header?.join(", ") ?? "");
  return [...text.matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = ""]) => quoted.replace(/\\(.)/g, "$1"));
}
