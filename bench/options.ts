import { parseArgs } from "node:util";

export const SECTIONS = [
  "latency",
  "silence",
  "start",
  "image",
  "tools",
  "import",
  "many",
  "reattach",
  "cancel",
  "output",
  "state",
] as const;
export type Section = (typeof SECTIONS)[number];

export interface Options {
  readonly cluster: "pocket" | "kube";
  /** How many runs at once, round by round. */
  readonly runs: readonly number[];
  /** How long each run of a round writes. */
  readonly seconds: number;
  readonly silence: number;
  /** Pairs of a run and a bare Job. */
  readonly pairs: number;
  readonly sections: ReadonlySet<Section>;
  readonly write: boolean;
  readonly strict: boolean;
}

export const HELP = `Measures the adapter's own execute against its budgets, with a stand-in CLI that stamps its lines.

  npm run bench -- [--cluster pocket|kube] [--runs 1,10,30] [--seconds 20] [--silence 30] [--pairs 7]
                   [--only ${SECTIONS.join(",")}] [--write] [--strict]

  --write   puts the table into bench/RESULTS.md, in the section of its cluster; with --only, those rows of it
  --strict  fails when a budget is missed`;

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      cluster: { type: "string", default: process.env.CLUSTER ?? "pocket" },
      runs: { type: "string", default: "1,10,30" },
      seconds: { type: "string", default: "20" },
      silence: { type: "string", default: "30" },
      pairs: { type: "string", default: "7" },
      only: { type: "string", default: SECTIONS.join(",") },
      write: { type: "boolean", default: false },
      strict: { type: "boolean", default: false },
    },
  });
  const { cluster } = values;
  if (cluster !== "pocket" && cluster !== "kube") throw new Error(`--cluster is pocket or kube, not ${cluster}`);
  const sections = values.only.split(",").map((name) => {
    const section = SECTIONS.find((each) => each === name);
    if (section === undefined) throw new Error(`--only takes ${SECTIONS.join(", ")}, not ${name}`);
    return section;
  });
  return {
    cluster,
    runs: values.runs.split(",").map((text) => positive("runs", text)),
    seconds: positive("seconds", values.seconds),
    silence: positive("silence", values.silence),
    pairs: positive("pairs", values.pairs),
    sections: new Set(sections),
    write: values.write,
    strict: values.strict,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes whole numbers from 1, not ${text}`);
  return value;
}
