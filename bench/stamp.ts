/** What the stand-in CLI does: lines at a steady pace; one, a silence and another; as much as it can at once; or it is a real program that says its version. */
export type Script =
  | { readonly kind: "flow"; readonly lines: number; readonly everyMs: number }
  | { readonly kind: "silence"; readonly ms: number }
  | { readonly kind: "bulk"; readonly megabytes: number }
  | { readonly kind: "version"; readonly program: string };

const WRITE = `let n = 0; const line = () => console.log("line " + n++ + " at " + Date.now());`;

export const commandOf = (script: Script): [string, ...string[]] =>
  script.kind === "version" ? [script.program, "--version"] : ["node", "-e", scriptText(script)];

/** JavaScript that stamps each line with the time of its writing; the first line is its first act. */
function scriptText(script: Exclude<Script, { kind: "version" }>): string {
  if (script.kind === "silence") return `${WRITE} line(); setTimeout(line, ${script.ms});`;
  if (script.kind === "bulk")
    return `const line = "z".repeat(99) + "\\n"; let left = ${script.megabytes} * 10_000;
      const more = () => { while (left-- > 0) if (!process.stdout.write(line)) return process.stdout.once("drain", more); }; more();`;
  const { lines, everyMs } = script;
  return `${WRITE} line(); const flow = setInterval(() => { if (n < ${lines}) line(); if (n >= ${lines}) clearInterval(flow); }, ${everyMs});`;
}

const EVERY_MS = 200;

/** Five lines a second, for so long. */
export const flowOf = (seconds: number): Script => ({ kind: "flow", lines: (seconds * 1000) / EVERY_MS, everyMs: EVERY_MS });
/** Starts and ends at once. */
export const ONE_LINE: Script = { kind: "flow", lines: 1, everyMs: 1 };

/** Of those that are stamped. */
export const linesOf = (script: Script): number => (script.kind === "flow" ? script.lines : script.kind === "silence" ? 2 : 0);

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
