import { type AdapterType, KINDS, plainEnv, TYPES, USUAL_TYPE } from "../../agent-kinds.ts";
import type { Agent } from "../../host/company.ts";
import type { AnyStage } from "../../stage.ts";

const NAMES = ["Otto", "Clara", "Emil", "Greta"];
const nameOf = (type: AdapterType): string => NAMES[TYPES.indexOf(type)] ?? type;
/** The agent with a wrong setting: its failure is there to be fixed on the page. */
export const WRONG_COMMAND = "Nemo";

export interface Staff {
  readonly agents: readonly Agent[];
  /** Which CLI an agent runs, for people. */
  titleOf(agent: Agent): string;
  /** Gives a minute of work to each good agent that has none; how many those are. */
  work(): Promise<number>;
}

/** An agent of each built-in type, as the host's own form makes them, and one whose program does not exist; those of an earlier start are still there. */
export async function hireStaff({ company, llm }: AnyStage): Promise<Staff> {
  const known = await company.agents();
  const engage = async (name: string, type: AdapterType, more: Readonly<Record<string, unknown>> = {}): Promise<Agent> => {
    const { model, offline } = KINDS[type].scripted(llm);
    const settings = { model, env: plainEnv(offline), dangerouslySkipPermissions: true, ...more };
    return known.find((agent) => agent.name === name) ?? company.hire(name, KINDS[type].builtInType, settings);
  };
  const good: Agent[] = [];
  for (const type of TYPES) good.push(await engage(nameOf(type), type));
  const bad = await engage(WRONG_COMMAND, USUAL_TYPE, { command: "no-such-program" });
  const titleOf = ({ adapterType }: Agent) =>
    Object.values(KINDS).find(({ builtInType }) => builtInType === adapterType)?.title ?? adapterType;
  return { agents: [...good, bad], titleOf, work: () => giveWork(company, good) };
}

async function giveWork(company: AnyStage["company"], agents: readonly Agent[]): Promise<number> {
  const runs = await company.allRuns();
  const idle = agents.filter(({ id }) => !runs.some((run) => run.agentId === id && /queued|running|scheduled_retry/.test(run.status)));
  for (const { id, name } of idle) {
    // The host takes a second issue with the same words for a mistake.
    const round = (await company.issuesOf(id)).length + 1;
    await company.assign(id, `${name}, work for a minute (${round})`, "Report what you see, step by step, and then close this issue.");
  }
  return idle.length;
}
