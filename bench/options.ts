import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** In the order in which they are measured, each with what it is about. */
const ABOUT = {
  start: "execute against a bare Job of the same image: alone, 10 and 30 at once",
  next: "the next run of a task: same adapter, another instance, another server",
  latency: "lines, returns, requests and CPU of runs at once",
  loss: "lines with 0, 50 and 100 % of wake-ups lost at random",
  flood: "100,000 forged datagrams a second at the reader's port",
  silence: "first line after a silence, with wake-ups and without",
  "clean-up": "when Job, Secret and pod are gone, and the requests for it",
  fresh: "a server just started: first execute, event loop, memory",
  pod: "CPU and memory of the pod around an idle CLI, over a bare Job",
  output: "memory while one run writes --megabytes",
  polls: "requests to a host without abort signals",
  image: "an image that does not exist",
  tools: "CLIs of the tools image (real cluster)",
  many: "144 and 500 runs (embedded cluster)",
  reattach: "500 runs taken over after a restart (embedded cluster)",
  cancel: "a cancel while the CLI is at work",
  state: "carrying a session in and out",
  "cli-start": "the real CLIs by hand: start → first output, with and without the adapter's cuts",
  import: "import of the built entries (npm run build first)",
} as const;
export type Section = keyof typeof ABOUT;
export const SECTIONS = Object.keys(ABOUT) as readonly Section[];

/** Another adapter to measure beside ours. */
export interface Comparison {
  /** Its entry, as the host loads it. */
  readonly entry: string;
  /** Put over the settings of its agents. */
  readonly config: Record<string, unknown>;
  /** Added to the environment of its server. */
  readonly env: Readonly<Record<string, string>>;
  /** Where its server looks for the shared volume; null = it does not. */
  readonly path: string | null;
}

export interface Options {
  readonly cluster: "pocket" | "kube";
  /** How many runs at once, round by round. */
  readonly runs: readonly number[];
  /** How long each run of a round writes. */
  readonly seconds: number;
  readonly silence: number;
  /** Pairs of a run and a bare Job. */
  readonly pairs: number;
  /** Pairs of a first and a next run. */
  readonly turns: number;
  /** What one run writes in the section `output`. */
  readonly megabytes: number;
  readonly sections: ReadonlySet<Section>;
  readonly compare: Comparison | null;
  readonly write: boolean;
  readonly strict: boolean;
}

const sectionLines = SECTIONS.map((name) => `    ${name.padEnd(9)} ${ABOUT[name]}`).join("\n");

export const HELP = `Measures the adapter's own execute against its budgets, with a stand-in CLI that stamps its lines.

  npm run bench -- [--cluster pocket|kube] [--only <section>,…] [--write] [--strict]
                   [--runs 1,10,30] [--seconds 20] [--silence 30] [--pairs 7] [--turns 5] [--megabytes 100]
  npm run bench -- --compare <entry> [--compare-config <file>] [--compare-env NAME=value]… [--compare-path <path>] [--cluster …]

  --only       these sections; all of them unless set:
${sectionLines}
  --write      puts the table into bench/RESULTS.md, in the section of its cluster; with --only, those rows of it
  --strict     fails when a budget is missed
  --runs       how many runs at once in each round of latency, and of a comparison
  --seconds    how long each of them writes
  --silence    seconds of silence before the line that is measured
  --pairs      pairs of a run and a bare Job
  --turns      pairs of a first and a next run of a task
  --megabytes  what one run writes in the section output; 1000 takes a minute or more

  --compare         another adapter's entry: an ES module with createServerAdapter(), as the host loads it; an older build of our own
                    or anybody's. It is measured in turns with ours, each in a server process of its own, with the same stand-in for
                    its CLI. Nothing else is measured then, unless --only asks for it
  --compare-config  a JSON file that is put over the settings of its agents
  --compare-env     a variable of its server process
  --compare-path    where its server looks for the shared volume, as /paperclip: a link there for as long as it is measured`;

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      cluster: { type: "string", default: process.env.CLUSTER ?? "pocket" },
      runs: { type: "string", default: "1,10,30" },
      seconds: { type: "string", default: "20" },
      silence: { type: "string", default: "30" },
      pairs: { type: "string", default: "7" },
      turns: { type: "string", default: "5" },
      megabytes: { type: "string", default: "100" },
      only: { type: "string" },
      compare: { type: "string" },
      "compare-config": { type: "string" },
      "compare-env": { type: "string", multiple: true, default: [] },
      "compare-path": { type: "string" },
      write: { type: "boolean", default: false },
      strict: { type: "boolean", default: false },
    },
  });
  const { cluster, compare } = values;
  if (cluster !== "pocket" && cluster !== "kube") throw new Error(`--cluster is pocket or kube, not ${cluster}`);
  const alone = [values["compare-config"], values["compare-path"], values["compare-env"][0]].some((each) => each !== undefined);
  if (compare === undefined && alone) throw new Error("--compare-config, --compare-env and --compare-path belong to --compare");
  return {
    cluster,
    runs: values.runs.split(",").map((text) => positive("runs", text)),
    seconds: positive("seconds", values.seconds),
    silence: positive("silence", values.silence),
    pairs: positive("pairs", values.pairs),
    turns: positive("turns", values.turns),
    megabytes: positive("megabytes", values.megabytes),
    sections: sectionsOf(values.only ?? (compare === undefined ? SECTIONS.join(",") : "")),
    compare: compare === undefined ? null : comparison(compare, values),
    write: values.write,
    strict: values.strict,
  };
}

function sectionsOf(text: string): ReadonlySet<Section> {
  const names = text === "" ? [] : text.split(",");
  return new Set(
    names.map((name) => {
      const section = SECTIONS.find((each) => each === name);
      if (section === undefined) throw new Error(`--only takes ${SECTIONS.join(", ")}, not ${name}`);
      return section;
    }),
  );
}

interface CompareValues {
  readonly "compare-config"?: string | undefined;
  readonly "compare-env": readonly string[];
  readonly "compare-path"?: string | undefined;
}

function comparison(entry: string, values: CompareValues): Comparison {
  const config = values["compare-config"];
  const pairs = values["compare-env"].map((text) => {
    const at = text.indexOf("=");
    if (at < 1) throw new Error(`--compare-env takes NAME=value, not ${text}`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return {
    entry: resolve(entry),
    config: config === undefined ? {} : (JSON.parse(readFileSync(config, "utf8")) as Record<string, unknown>),
    env: Object.fromEntries(pairs),
    path: values["compare-path"] ?? null,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes whole numbers from 1, not ${text}`);
  return value;
}
