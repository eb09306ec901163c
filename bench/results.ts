import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem, type as typeOfSystem } from "node:os";
import { fileURLToPath } from "node:url";
import { lines, type Row, table } from "./figures.ts";
import { type Options, SECTIONS } from "./options.ts";

const FILE = fileURLToPath(new URL("RESULTS.md", import.meta.url));
const TITLES = { pocket: "Embedded cluster", kube: "Real Kubernetes" } as const;

const HEAD = `# Figures

Filled by \`npm run bench -- --cluster <pocket|kube> --write\`: the adapter's own \`execute\`, real runner, real reader, real files, and a stand-in
CLI whose lines carry the time of their writing. Server, cluster and pods share one machine, so their work is in each other's way.
`;

export function machineFacts(loadBefore: number): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const load = `load ${loadBefore.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`;
  return `${cpus().length} cores, ${memory} GiB, ${typeOfSystem()}, Node ${process.versions.node}, ${load}, ${new Date().toISOString().slice(0, 10)}`;
}

/** Puts the table in place of the one of the same cluster, or a part's rows into it; the other cluster's stays. */
export function writeResults(options: Options, facts: string, rows: readonly Row[]): void {
  const old = existsSync(FILE) ? readFileSync(FILE, "utf8") : "";
  const kept = new Map(
    old
      .split(/^## /m)
      .slice(1)
      .map((text) => [text.slice(0, text.indexOf("\n")), text.trim()] as const),
  );
  const title = TITLES[options.cluster];
  const isPart = options.sections.size < SECTIONS.length;
  const part = isPart ? `\`--only ${[...options.sections].join(",")}\`: ` : "";
  const [oldFacts, oldRows] = isPart ? linesOf(kept.get(title) ?? "", part, rows) : [[], []];
  kept.set(title, `${title}\n\n${[...oldFacts, `${part}${facts}.`].join("\n\n")}\n\n${[table([]), ...oldRows, ...lines(rows)].join("\n")}`);
  const sections = Object.values(TITLES).flatMap((each) => kept.get(each) ?? []);
  writeFileSync(FILE, `${HEAD}\n${sections.map((text) => `## ${text}\n`).join("\n")}`);
}

/** What a section keeps when a part of it is measured again: the facts of other runs, the rows of other things. */
function linesOf(section: string, part: string, rows: readonly Row[]): [string[], string[]] {
  const all = section.split("\n").slice(1);
  const again = new Set(rows.map(({ what }) => `| ${what} |`));
  const facts = all.filter((line) => line !== "" && !line.startsWith("|") && !line.startsWith(part));
  const figures = all.filter((line) => line.startsWith("|") && !/^\|( what |---)/.test(line));
  return [facts, figures.filter((line) => ![...again].some((start) => line.startsWith(start)))];
}
