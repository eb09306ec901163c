import { setTimeout as sleep } from "node:timers/promises";
import { type AdapterType, KINDS, TYPES } from "../agent-kinds.ts";
import type { Agent, Run } from "../company.ts";
import type { AnyStage } from "../stage.ts";
import type { SignIn } from "./screen.ts";

const NAMES = ["Otto", "Clara", "Emil", "Greta"];
const nameOf = (type: AdapterType): string => NAMES[TYPES.indexOf(type)] ?? type;
// The host takes a second issue with the same words for a mistake.
const title = (name: string) => `${name}, say hello from the cluster and close this issue`;
/** The last line is what the scripted model acts upon. */
const TASK = `A greeting from a pod, please, and then close the issue.\n\nbash:echo "hello from $(hostname)"; close-issue #`;

export interface Seeded {
  /** Of the company's pages. */
  readonly prefix: string;
  readonly signIn: SignIn | null;
  /** Tells how the agents' runs get on, until all are over. */
  follow(say: (line: string) => void, interrupted: AbortSignal): Promise<void>;
}

/** An agent of each kind and an issue for each; agents of an earlier start get the new addresses of cluster and model. */
export async function seed(stage: AnyStage): Promise<Seeded> {
  const { company } = stage;
  const known = await company.agents();
  const agents: Agent[] = [];
  for (const type of TYPES) {
    const agent = known.find(({ adapterType }) => adapterType === type);
    if (agent !== undefined) await company.configure(agent.id, stage.config(type));
    agents.push(agent ?? (await company.hire(nameOf(type), type, stage.config(type))));
    if (agent === undefined) await company.assign(agents.at(-1)!.id, title(nameOf(type)), TASK);
  }
  const { issuePrefix } = await company.about();
  return { prefix: issuePrefix, signIn: stage.signIn ?? null, follow: (say, interrupted) => follow(stage, agents, say, interrupted) };
}

async function follow(stage: AnyStage, agents: readonly Agent[], say: (line: string) => void, interrupted: AbortSignal): Promise<void> {
  const shown = new Map<string, string>();
  while (!interrupted.aborted) {
    let open = 0;
    for (const agent of agents) {
      const [run] = await stage.company.runs(agent.id);
      const state = run === undefined ? "waiting" : run.status;
      if (/waiting|queued|running/.test(state)) open += 1;
      if (shown.get(agent.id) !== state) say(`${agent.name} (${KINDS[agent.adapterType as AdapterType].title}): ${state}${cost(run)}`);
      shown.set(agent.id, state);
    }
    if (open === 0) return;
    await sleep(500, undefined, { signal: interrupted }).catch(() => {});
  }
}

function cost(run: Run | undefined): string {
  if (run?.error) return `, ${run.error}`;
  const usd = run?.usageJson?.costUsd;
  return typeof usd === "number" ? `, ${String(run?.usageJson?.outputTokens)} tokens out, $${usd.toFixed(4)}` : "";
}
