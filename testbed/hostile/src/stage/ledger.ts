import { appendFileSync } from "node:fs";
import { onKube } from "../../../suite/src/bed.ts";

/** One line of the table of attacks. */
export interface Row {
  readonly id: string;
  readonly cluster: "embedded" | "real";
  readonly tried: string;
  readonly happened: string;
  readonly innocent: string;
  readonly server: string;
}

/** Kept for the table that `npm run attacks` writes; a test run by itself needs none. */
export function record(row: Omit<Row, "cluster">): void {
  const file = process.env.ATTACKS_ROWS;
  if (file) appendFileSync(file, `${JSON.stringify({ ...row, cluster: onKube ? "real" : "embedded" } satisfies Row)}\n`);
}
