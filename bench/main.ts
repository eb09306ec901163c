// npm run bench: what a run costs and how late its output is, through the adapter's own execute, against the budgets.
import { loadavg } from "node:os";
import type { Bed } from "../testbed/suite/src/bed.ts";
import { type Row, table } from "./figures.ts";
import { type Host, startHost } from "./host.ts";
import { measureCancel } from "./measure/cancel.ts";
import { type Cost, cpuRow } from "./measure/cost.ts";
import { measureMissingImage } from "./measure/image.ts";
import { measureImport } from "./measure/import.ts";
import { measureRound } from "./measure/latency.ts";
import { measureMany } from "./measure/many.ts";
import { measureOutput } from "./measure/output.ts";
import { measureReattach } from "./measure/reattach.ts";
import { measureSilence } from "./measure/silence.ts";
import { measureStart } from "./measure/start.ts";
import { measureState } from "./measure/state.ts";
import { measureTools } from "./measure/tools.ts";
import { HELP, type Options, parseOptions } from "./options.ts";
import { machineFacts, writeResults } from "./results.ts";

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) {
    console.log(HELP);
    return 0;
  }
  const options = parseOptions(args);
  process.env.CLUSTER = options.cluster;
  const { startBed } = await import("../testbed/suite/src/bed.ts");
  const loadBefore = loadavg()[0] ?? 0;
  const bed = await startBed();
  const host = startHost(bed);
  try {
    const rows = await measureAll(options, bed, host);
    const facts = machineFacts(loadBefore);
    console.log(`\n${facts}\n\n${table(rows)}`);
    if (options.write) writeResults(options, facts, rows);
    return options.strict && rows.some((row) => row.ok === false) ? 1 : 0;
  } finally {
    host.stop();
    await bed.stop();
  }
}

async function measureAll(options: Options, bed: Bed, host: Host): Promise<Row[]> {
  const rows: Row[] = [];
  const { sections } = options;
  let anyLength: Cost | null = null;
  // Clients and connections are made by the first run.
  await host.run({ kind: "flow", lines: 1, everyMs: 1 });
  if (sections.has("start")) {
    tell(`execute against a bare Job, ${options.pairs} pairs`);
    const start = await measureStart(host, bed, options.pairs);
    anyLength = start.cost;
    rows.push(...start.rows);
  }
  for (const count of sections.has("latency") ? options.runs : []) {
    tell(`${count} at once for ${options.seconds} s`);
    const round = await measureRound(host, bed, count, options.seconds);
    rows.push(...round.rows);
    if (anyLength !== null) rows.push(cpuRow(count, options.seconds, round.cost, anyLength));
  }
  if (sections.has("silence")) {
    tell(`silence of ${options.silence} s`);
    rows.push(...(await measureSilence(host, options.silence)));
  }
  if (sections.has("image")) rows.push(...(await measureMissingImage(host, bed)));
  if (sections.has("tools") && bed.kind === "kube") {
    tell("CLIs of the tools image against those of the image itself");
    rows.push(...(await measureTools(host, bed, options.pairs)));
  }
  if (sections.has("many") && bed.pocket !== null) {
    tell("144 and 500 runs");
    rows.push(...(await measureMany(host, bed, bed.pocket, options.seconds)));
  }
  if (sections.has("reattach") && bed.pocket !== null) {
    tell("500 runs taken over after a restart");
    rows.push(...(await measureReattach(bed)));
  }
  if (sections.has("cancel")) rows.push(...(await measureCancel(bed)));
  if (sections.has("output")) rows.push(...(await measureOutput(host)));
  if (sections.has("state")) {
    tell("sessions of 10, 100 and 1,000 messages");
    rows.push(...(await measureState(3)));
  }
  if (sections.has("import")) rows.push(...measureImport());
  return rows;
}

const tell = (text: string): void => void process.stderr.write(`${text}\n`);

process.exit(await main(process.argv.slice(2)));
