// npm run bench: what a run costs and how late its output is, through the adapter's own execute, against the budgets.
import { loadavg } from "node:os";
import { table } from "./figures.ts";
import { HELP, parseOptions } from "./options.ts";
import { machineFacts, writeResults } from "./results.ts";

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) {
    console.log(HELP);
    return 0;
  }
  const options = parseOptions(args);
  // The suite's modules read it when they are imported.
  process.env.CLUSTER = options.cluster;
  const { startBed } = await import("../testbed/suite/src/bed.ts");
  const loadBefore = loadavg()[0] ?? 0;
  const bed = await startBed();
  try {
    const rows = options.sections.size === 0 ? [] : await (await import("./sections.ts")).measureSections(options, bed);
    const compared = options.compare === null ? null : await (await import("./compare/compare.ts")).compare(options.compare, options, bed);
    const facts = machineFacts(loadBefore);
    console.log([`\n${facts}`, ...(rows.length === 0 ? [] : [table(rows)]), ...(compared === null ? [] : [compared])].join("\n\n"));
    if (options.write && rows.length > 0) writeResults(options, facts, rows);
    return options.strict && rows.some((row) => row.ok === false) ? 1 : 0;
  } finally {
    await bed.stop();
  }
}

process.exit(await main(process.argv.slice(2)));
