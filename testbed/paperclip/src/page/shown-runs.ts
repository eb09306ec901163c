import { type AdapterType, TYPES, USUAL_TYPE } from "../agent-kinds.ts";
import type { Run } from "../host/company.ts";
import type { Stage } from "../stage.ts";
import { until } from "../wait.ts";

/** One run whose page is looked at. */
export interface ShownRun {
  readonly name: string;
  /** The prompt of the scripted model. */
  readonly task: string;
  readonly type?: AdapterType;
  readonly config?: Readonly<Record<string, unknown>>;
}

export const shownRuns: readonly ShownRun[] = [
  // Some CLIs leave reasoning out of their events unless it is asked for.
  { name: "works", task: "use-tool think", config: { extraArgs: ["--thinking"] } },
  ...TYPES.filter((type) => type !== USUAL_TYPE).map((type) => ({ name: `works-${type}`, task: "use-tool think", type })),
  { name: "long-output", task: "bash:seq 1 400; exit 3 #" },
  { name: "refused", task: "model-error" },
  { name: "unknown-model", task: "use-tool", config: { model: "nowhere/nothing" } },
  { name: "refused-setting", task: "use-tool", config: { "resources.limits.memory": "lots" } },
  { name: "no-image", task: "use-tool", config: { image: "agent:none" } },
  { name: "time-limit", task: "endless-steps slow-1", config: { timeoutSec: 15, graceSec: 1 } },
];

/** Makes the run happen; returns the path of its page. */
export async function makeRun(
  { company, config: usualOf }: Stage,
  prefix: string,
  { name, task, type = USUAL_TYPE, config }: ShownRun,
): Promise<{ path: string; run: Run }> {
  const adapterConfig = { ...usualOf(type), ...config };
  const agent = await company.hire(name, type, adapterConfig);
  const issue = await company.assign(agent.id, name, task);
  // The oldest: the host may have begun a run of its own after it.
  const ended = async () => (await company.runs(agent.id)).findLast(({ status }) => !/queued|running/.test(status));
  const run = await until(`the end of the run "${name}"`, ended);
  await company.update(issue.id, { status: "cancelled" }); // so that the host leaves it alone
  return { path: `/${prefix}/agents/${agent.id}/runs/${run.id}`, run };
}
