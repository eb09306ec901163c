/** A document in which what stands between two marks is this text. */
export function between(document: string, mark: string, text: string): string {
  const begin = `<!-- ${mark}: written by scripts/generate-docs.ts -->`;
  const end = `<!-- /${mark} -->`;
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the document lacks the marks "${begin}" and "${end}"`);
  return `${document.slice(0, from)}${begin}\n\n${text}\n\n${document.slice(to)}`;
}
