import { howEnded, stateByRecord } from "../cluster/job-state.ts";
import type { ListedRun } from "../recovery/find/listed-runs.ts";
import { table } from "../table.ts";
import type { Unattended } from "./read-unattended.ts";
import type { CostReport } from "./report-cost.ts";

/** A run that nobody followed to its end. */
export interface Row {
  readonly run: ListedRun;
  /** Null = it could not be read. */
  readonly one: Unattended | null;
  readonly cost: CostReport | null;
  /** What went wrong while it was looked at. */
  readonly problem: string | null;
}

/** Runs that nobody followed to their end: how they ended, what they used, and where the rest of the transcript is. */
export function unattendedListing(rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const columns = [{ title: "ISSUE", max: 12 }, { title: "RUN" }, { title: "ENDED" }];
  const cells = rows.map((row) => [row.one?.issue?.identifier ?? "-", row.run.id.slice(0, 8), describe(row)]);
  return ["ended while no server was there (their pages on the host cannot be changed any more):", ...table(columns, cells)];
}

function describe({ run, one, cost, problem }: Row): string {
  if (one === null) return `could not be looked at: ${problem}`;
  const { end, usage } = one;
  const state = stateByRecord({ endRecord: end, claimed: null });
  const how = state.kind === "ended" ? howEnded(state) : "ended";
  const cached = usage.cachedInputTokens === 0 ? "" : ` (and ${number(usage.cachedInputTokens)} cached)`;
  const used = `${number(usage.inputTokens)} tokens in${cached}, ${number(usage.outputTokens)} out, ${price(usage.costUsd)}`;
  return [
    `the agent ${how} at ${end.at}`,
    used,
    ...(cost === null ? [] : [cost.text]),
    ...(problem === null ? [] : [`cost not reported: ${problem}`]),
    `what it did: paperclip-k8s transcript ${run.id.slice(0, 8)}`,
  ].join("; ");
}

const number = (value: number): string => value.toLocaleString("en-US");
const price = (costUsd: number | null): string => (costUsd === null ? "no price known" : `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`);
