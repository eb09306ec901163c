/** One row of the host's run page. */
export interface Entry {
  readonly kind: string;
  readonly [field: string]: unknown;
}

type ParseLine = (line: string, ts: string) => Entry[];

/** A ui-parser as the host's browser worker evaluates it: CommonJS text without globals. */
export function loadParser(source: string): ParseLine {
  const module = { exports: {} as { parseStdoutLine?: ParseLine } };
  new Function("exports", "module", "self", "globalThis", `"use strict";\n{\n${source}\n}`)(module.exports, module, undefined, undefined);
  if (module.exports.parseStdoutLine === undefined) throw new Error("the ui-parser has no parseStdoutLine");
  return module.exports.parseStdoutLine;
}

/** What the host shows until a parser is there, and on today's Chromium for good: every line as it was sent. */
const asSent: ParseLine = (line) => [{ kind: "stdout", text: line }];

/**
 * The rows of a run page, built from the run's log as the host's page builds them: error output row by row, standard output joined over
 * chunks and cut into lines, blank ones dropped.
 */
export function pageOf(log: readonly { stream: string; chunk: string }[], parse: ParseLine = asSent): Entry[] {
  const entries: Entry[] = [];
  let rest = "";
  const flush = (text: string) => {
    const line = text.trim();
    if (line !== "") entries.push(...parse(line, "1970-01-01T00:00:00.000Z"));
  };
  for (const { stream, chunk } of log) {
    if (stream !== "stdout") {
      entries.push({ kind: stream, text: chunk });
      continue;
    }
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(flush);
  }
  flush(rest);
  return entries;
}

/** The page as text: one line for each row, its kind first. */
export function pageText(entries: readonly Entry[]): string {
  return entries.map(({ kind, ts, ...fields }) => `${kind.padEnd(12)} ${worded(fields)}`).join("\n");
}

function worded(fields: Readonly<Record<string, unknown>>): string {
  if (Object.keys(fields).every((key) => key === "text" || key === "delta")) return String(fields.text ?? "").trimEnd();
  return JSON.stringify(fields);
}
