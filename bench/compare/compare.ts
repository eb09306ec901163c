import type { Bed } from "../../testbed/suite/src/bed.ts";
import { openHostApi } from "../host-api.ts";
import type { Comparison, Options } from "../options.ts";
import { swept } from "../settle.ts";
import { ONE_LINE } from "../stamp.ts";
import { comparedAlone, comparedAtOnce, comparedTurns } from "./measures.ts";
import { openSides } from "./sides.ts";

/** A row of the comparison. */
export interface Compared {
  readonly what: string;
  readonly ours: string;
  readonly other: string;
}

/** Two adapters in turns on the same cluster: the table of both. */
export async function compare(comparison: Comparison, options: Options, bed: Bed): Promise<string> {
  const api = await openHostApi();
  try {
    const sides = await openSides(comparison, bed, api);
    try {
      // Clients and connections are made by the first run of each.
      for (const { name, host } of sides) {
        const { exitCode, error, log } = await host.run(ONE_LINE);
        if (exitCode !== 0) throw new Error(`${name} cannot run here: ${error ?? exitCode}\n${log.map(({ text }) => text).join("")}`);
        await swept(bed);
      }
      const rows: Compared[] = [...(await comparedAlone(sides, bed, options.pairs))];
      for (const count of options.runs) rows.push(...(await comparedAtOnce(sides, bed, count, options.seconds)));
      rows.push(...(await comparedTurns(sides, bed, options.turns, api)));
      return `Other: ${comparison.entry}\n\n${compareTable(rows)}`;
    } finally {
      for (const { host } of sides) host.stop();
    }
  } finally {
    api.close();
  }
}

const compareTable = (rows: readonly Compared[]): string =>
  ["| what | ours | other |", "|---|---|---|", ...rows.map(({ what, ours, other }) => `| ${what} | ${ours} | ${other} |`)].join("\n");
