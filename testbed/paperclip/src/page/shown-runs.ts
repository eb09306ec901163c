import { USUAL_TYPE } from "../agent-kinds.ts";
import type { Run } from "../company.ts";
import type { Stage } from "../stage.ts";
import { until } from "../wait.ts";

/** One run whose page is looked at. */
export interface ShownRun {
  readonly name: string;
  /** The prompt of the scripted model. */
  readonly task: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

export const shownRuns: readonly ShownRun[] = [
  // Some CLIs leave reasoning out of their events unless it is asked for.
  { name: "works", task: "use-tool think", config: { extraArgs: ["--thinking"] } },
  { name: "refused", task: "model-error" },
  { name: "time-limit", task: "endless-steps slow-1", config: { timeoutSec: 15, graceSec: 1 } },
];

/** Makes the run happen; returns the path of its page. */
export async function makeRun(
  { company, config: usualOf }: Stage,
  prefix: string,
  { name, task, config }: ShownRun,
): Promise<{ path: string; run: Run }> {
  const adapterConfig = { ...usualOf(USUAL_TYPE), ...config };
  const agent = await company.hire(name, USUAL_TYPE, adapterConfig);
  const issue = await company.assign(agent.id, name, task);
  // The oldest: the host may have begun a run of its own after it.
  const ended = async () => (await company.runs(agent.id)).findLast(({ status }) => !/queued|running/.test(status));
  const run = await until(`the end of the run "${name}"`, ended);
  await company.update(issue.id, { status: "cancelled" }); // so that the host leaves it alone
  return { path: `/${prefix}/agents/${agent.id}/runs/${run.id}`, run };
}
