// Part of what the host's page loads: nothing here needs Node.

const CHARS = 60;

/** How a result names its call, where it could be taken for another one's: the beginning of the call's line, without its mark. */
export function callName(line: string): string {
  const start = line.slice(0, 2 * CHARS).replaceAll("›", ">");
  const characters = [...start].slice(0, CHARS);
  const name = characters.join("");
  return name.length === line.length ? name : `${name.trimEnd()}…`;
}

/** `‹bash  ls› a.txt`: the name of a call before its result. */
export const named = (name: string, text: string): string => `‹${name}› ${text}`.trimEnd();

/** The call's name, if the line has one, and the rest. */
export function readNamed(line: string): { readonly name: string; readonly text: string } {
  const parts = /^‹([^›]*)›(?: (.*))?$/s.exec(line);
  return parts === null ? { name: "", text: line } : { name: parts[1] ?? "", text: parts[2] ?? "" };
}
