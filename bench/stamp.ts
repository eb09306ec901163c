/** What the stand-in CLI does: lines at a steady pace, or one, a silence and another. */
export type Script =
  | { readonly kind: "flow"; readonly lines: number; readonly everyMs: number }
  | { readonly kind: "silence"; readonly ms: number };

const WRITE = `let n = 0; const line = () => console.log("line " + n++ + " at " + Date.now());`;

/** JavaScript that stamps each line with the time of its writing; the first line is its first act. */
export function scriptText(script: Script): string {
  if (script.kind === "silence") return `${WRITE} line(); setTimeout(line, ${script.ms});`;
  const { lines, everyMs } = script;
  return `${WRITE} line(); const flow = setInterval(() => { if (n < ${lines}) line(); if (n >= ${lines}) clearInterval(flow); }, ${everyMs});`;
}

export const linesOf = (script: Script): number => (script.kind === "silence" ? 2 : script.lines);

export interface Stamped {
  readonly n: number;
  readonly writtenAt: number;
  readonly seenAt: number;
}

/** The stamps in a run's log, in the order of arrival. */
export function stampsOf(log: readonly { readonly at: number; readonly text: string }[]): Stamped[] {
  return log.flatMap(({ at, text }) =>
    [...text.matchAll(/\bline (\d+) at (\d+)/g)].map((found) => ({ n: Number(found[1]), writtenAt: Number(found[2]), seenAt: at })),
  );
}
