import { howEnded, jobState } from "../cluster/job-state.ts";
import { table } from "../table.ts";
import type { Unattended } from "./find-unattended.ts";
import type { CostReport } from "./report-cost.ts";

/** Runs that nobody followed to their end: how they ended, what they used, and where the rest of the transcript is. */
export function unattendedListing(found: readonly (readonly [Unattended, CostReport | null])[]): string[] {
  if (found.length === 0) return [];
  const columns = [{ title: "ISSUE", max: 12 }, { title: "RUN" }, { title: "ENDED" }];
  const rows = found.map(([one, cost]) => [one.issue?.identifier ?? "-", one.run.id.slice(0, 8), describe(one, cost)]);
  return ["ended while nobody was there (the host's page of these runs stays as it is):", ...table(columns, rows)];
}

function describe({ run, end, usage }: Unattended, cost: CostReport | null): string {
  const state = jobState({ job: null, pods: [], container: "", endRecord: end, claimed: null, termination: null });
  const how = state.kind === "ended" ? howEnded(state) : "ended";
  const cached = usage.cachedInputTokens === 0 ? "" : ` (and ${number(usage.cachedInputTokens)} cached)`;
  const used = `${number(usage.inputTokens)} tokens in${cached}, ${number(usage.outputTokens)} out, ${price(usage.costUsd)}`;
  return [
    `the agent ${how} at ${end.at}`,
    used,
    ...(cost === null ? [] : [cost.text]),
    `what it did: paperclip-k8s transcript ${run.id.slice(0, 8)}`,
  ].join("; ");
}

const number = (value: number): string => value.toLocaleString("en-US");
const price = (costUsd: number | null): string => (costUsd === null ? "no price known" : `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`);
