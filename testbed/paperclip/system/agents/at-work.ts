import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AdapterType, KINDS, plainEnv, USUAL_TYPE } from "../../src/agent-kinds.ts";
import type { Agent, Issue, Run } from "../../src/host/company.ts";
import { nextRun } from "../../src/host/follow.ts";
import type { Stage } from "../../src/stage.ts";
import { until } from "../../src/wait.ts";

/** An agent in the middle of its turn: its only command ends when it is let go on. */
export interface AtWork {
  readonly agent: Agent;
  readonly issue: Issue;
  readonly run: Run;
  goOn(): void;
}

let begun = 0;

/** `then`: what the command does when it goes on. */
export async function atWork(stage: Stage, title: string, then: string, type: AdapterType = USUAL_TYPE): Promise<AtWork> {
  // A host takes a second issue of the same words for the first one sent again.
  const name = `${title} ${++begun}`;
  const gate = join(stage.host.home.path, `gate-${begun}`);
  const { env, ...config } = stage.config(type);
  // A command may last longer than a restart or two take.
  const agent = await stage.company.hire(name, type, { ...config, env: { ...(env as object), ...plainEnv(KINDS[type].longCommands) } });
  const command = `touch ${gate}-seen; until test -e ${gate}; do sleep 0.2; done; ${then}`;
  const issue = await stage.company.assign(agent.id, name, `bash:${command} #`);
  const run = await nextRun(stage.company, agent);
  await until(`${name} at work`, async () => existsSync(`${gate}-seen`));
  return { agent, issue, run, goOn: () => writeFileSync(gate, "") };
}

/** An agent that takes one step after the other, some of them done. Whoever starts its issue anew finds another task there. */
export async function busy(stage: Stage, title: string, type: AdapterType = USUAL_TYPE): Promise<AtWork> {
  const { company, llm } = stage;
  const name = `${title} ${++begun}`;
  const agent = await company.hire(name, type, stage.config(type));
  const issue = await company.assign(agent.id, name, "endless-steps slow-1");
  const run = await nextRun(company, agent);
  const steps = () => llm.requests.filter(({ userTexts }) => userTexts.some((text) => text.includes(name))).length;
  await until(`steps of ${name}`, async () => steps() > 3);
  const goOn = () => {};
  return { agent, issue: await company.update(issue.id, { description: "Nothing is left to do." }), run, goOn };
}

/** What a run's log says; nothing as long as the host has none. */
export async function textOf({ company }: Stage, { id }: Pick<Run, "id">): Promise<string> {
  const pieces = await company.log(id).catch(() => []);
  return pieces.map(({ chunk }) => chunk).join("");
}

/** Runs that go on in place of this one, oldest first; a busy host puts one off and starts another in its place. */
async function successors({ company }: Stage, { agent, run }: Pick<AtWork, "agent" | "run">): Promise<Run[]> {
  const line = new Set([run.id]);
  const runs = (await company.runs(agent.id)).reverse();
  return runs.filter(({ id, retryOfRunId }) => retryOfRunId !== null && line.has(retryOfRunId) && line.add(id));
}

/** The run that the host starts in place of this one. */
export const retryOf = (stage: Stage, work: Pick<AtWork, "agent" | "run">, status?: string): Promise<Run> =>
  until(`a retry of ${work.run.id}${status === undefined ? "" : ` that is ${status}`}`, async () =>
    (await successors(stage, work)).find((each) => status === undefined || each.status === status),
  );

/** The run that has taken the Job over. */
export const adopterOf = (stage: Stage, work: Pick<AtWork, "agent" | "run">): Promise<Run> =>
  until(`the adoption of ${work.run.id}`, async () => {
    for (const each of await successors(stage, work)) if ((await textOf(stage, each)).includes(`of run ${work.run.id};`)) return each;
    return null;
  });

/** What a test that failed half-way has left must not be held or started again under the next one. */
export async function closeAll({ company }: Stage): Promise<void> {
  for (const { id } of await company.agents())
    for (const issue of await company.issuesOf(id))
      if (!["done", "cancelled"].includes(issue.status)) await company.update(issue.id, { status: "cancelled" });
}

/** Nothing of these agents, or runs, is left in the cluster. */
export async function nothingLeft({ cluster, namespace }: Stage, ...whose: readonly Pick<Agent | Run, "id">[]): Promise<void> {
  const ids = new Set(whose.map(({ id }) => id));
  const isTheirs = (labels: Readonly<Record<string, string>> = {}) =>
    ["paperclip.io/agent-id", "paperclip.io/run-id"].some((label) => ids.has(labels[label] ?? ""));
  const left = () => RESOURCES.flatMap((kind) => cluster.list(kind, namespace).filter(({ metadata }) => isTheirs(metadata.labels)));
  await until("Jobs, pods and Secrets to go", async () => left().length === 0);
}

const RESOURCES = ["jobs", "pods", "secrets"] as const;
