import { setTimeout as sleep } from "node:timers/promises";
import { USUAL_TYPE } from "../agent-kinds.ts";
import type { Agent, Issue, Run } from "../host/company.ts";
import type { Stage } from "../stage.ts";
import { until } from "../wait.ts";
import type { Ending, Scene } from "./endings.ts";

/** What the host made of one ending. */
export interface Observed {
  readonly ending: Ending;
  readonly run: Run;
  readonly issue: Issue;
  /** Cause of the recovery action that waits for somebody; null = none. */
  readonly recovery: string | null;
  /** Runs that came after it by themselves, oldest first. */
  readonly laterRuns: readonly Run[];
  /** What the run itself said on the issue's page. */
  readonly comments: readonly string[];
  /** The run that the way out started; null = none, or not tried. */
  readonly nextRun: Run | null;
  /** What the act was answered, when that was an error. */
  readonly complaint: string | null;
}

/** Longer than the host's own quickest retry, 30 s and a tick of its scheduler. */
const WINDOW_MS = 55_000;
/** Longer than a host takes to start a run that nothing holds back. */
const CONTINUE_MS = 45_000;
const OVER = (run: Run) => !["queued", "running", "scheduled_retry"].includes(run.status);

/** A run that has ended, and what it belongs to. */
export interface Happened {
  readonly agent: Agent;
  readonly issue: Issue;
  readonly run: Run;
  /** What the act was answered, when that was an error. */
  readonly complaint: string | null;
}

/** Makes a run end like that. `number` tells the ends of one host apart. */
export async function happen(stage: Stage, ending: Ending, number: number): Promise<Happened> {
  const { company } = stage;
  const marker = `case-${number}`;
  const { type = USUAL_TYPE } = ending;
  const usual = stage.config(type);
  const config = typeof ending.config === "function" ? ending.config(usual) : ending.config;
  const agent = await company.hire(`Agent ${number}`, type, { ...usual, ...config });
  const issue = await company.assign(agent.id, marker, ending.task);
  let run = await until(`a run of ${ending.name}`, async () => (await company.runs(agent.id))[0]);
  let complaint: string | null = null;
  const scene = (): Scene => ({ stage, agentId: agent.id, issueId: issue.id, run, pod: podOf(stage, agent.id) });
  if (ending.act !== undefined) {
    const { id } = run;
    // A run with a time limit may be over first.
    await until(`steps of ${ending.name}`, async () => stepsOf(stage, marker) >= 3 || OVER(await company.run(id)));
    complaint = await ending.act(scene()).then(
      () => null,
      (error: Error) => error.message,
    );
  }
  run = await ended(stage, run.id);
  if (ending.beforeSecond !== undefined) run = await second(stage, ending, scene());
  return { agent, issue, run, complaint };
}

/** Makes it happen; the returned function waits for the host's sweeps and looks at what became of it. */
export async function makeHappen(stage: Stage, ending: Ending, number: number): Promise<() => Promise<Observed>> {
  const { agent, issue, run, complaint } = await happen(stage, ending, number);
  return async () => {
    await sleep(WINDOW_MS);
    const seen = await look(stage, ending, agent.id, issue.id, run, complaint);
    return { ...seen, nextRun: await continueByApi(stage, ending, agent.id, issue.id) };
  };
}

/** Does what a person does to go on, and waits for the run that comes of it; null = the host goes on by itself, or nothing came. */
export async function continueByApi(stage: Stage, { expected, fix }: Ending, agentId: string, issueId: string): Promise<Run | null> {
  if (expected?.wayOutBy == null) return null;
  const { company } = stage;
  const quiet = (run: Run) => OVER(run) || run.status === "scheduled_retry";
  await until("a quiet agent", async () => (await company.runs(agentId)).every(quiet));
  const known = new Set((await company.runs(agentId)).map(({ id }) => id));
  await fix?.({ stage, agentId });
  if (expected.wayOutBy === "todo") await company.update(issueId, { status: "todo" });
  else await company.comment(issueId, "Please go on.");
  const deadline = Date.now() + CONTINUE_MS;
  for (;;) {
    const found = (await company.runs(agentId)).find(({ id, startedAt }) => !known.has(id) && startedAt !== null);
    if (found !== undefined || Date.now() > deadline) {
      // Nothing that was made to go on is to keep the machine busy.
      await company.update(issueId, { status: "cancelled" });
      return found ?? null;
    }
    await sleep(1000);
  }
}

async function second(stage: Stage, ending: Ending, scene: Scene): Promise<Run> {
  const { company } = stage;
  // The host's own follow-up runs come first; the session is lost when none of them is under way.
  await until("a quiet agent", async () => (await company.runs(scene.agentId)).every(OVER));
  await ending.beforeSecond?.(scene);
  const known = new Set((await company.runs(scene.agentId)).map(({ id }) => id));
  await company.comment(scene.issueId, ending.task);
  const run = await until("the second wake's run", async () => (await company.runs(scene.agentId)).find(({ id }) => !known.has(id)));
  return ended(stage, run.id);
}

const ended = (stage: Stage, runId: string): Promise<Run> =>
  until(`the end of run ${runId}`, async () => {
    const run = await stage.company.run(runId);
    return OVER(run) ? run : null;
  });

async function look(stage: Stage, ending: Ending, agentId: string, issueId: string, run: Run, complaint: string | null): Promise<Observed> {
  const { company } = stage;
  const [issue, actions, runs, said] = await Promise.all([
    company.issue(issueId),
    company.recoveryActions(issueId),
    company.runs(agentId),
    company.comments(issueId),
  ]);
  const comments = said.filter(({ createdByRunId }) => createdByRunId === run.id).map(({ body }) => body);
  const laterRuns = runs.filter(({ id, createdAt }) => id !== run.id && createdAt > run.createdAt).reverse();
  return {
    ending,
    run: await company.run(run.id),
    issue,
    recovery: actions.active?.cause ?? null,
    laterRuns,
    comments,
    nextRun: null,
    complaint,
  };
}

function podOf({ cluster, namespace }: Stage, agentId: string): string {
  const own = cluster.list("pods", namespace).find(({ metadata }) => Object.values(metadata.labels ?? {}).includes(agentId));
  return own?.metadata.name ?? "";
}

const stepsOf = ({ llm }: Stage, marker: string): number =>
  llm.requests.filter(({ userTexts }) => userTexts.some((text) => new RegExp(`${marker}(?!\\d)`).test(text))).length;
