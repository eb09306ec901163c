import { type AdapterType, KINDS, TYPES, USUAL_TYPE } from "../../agent-kinds.ts";
import type { Agent } from "../../host/company.ts";
import type { AnyStage } from "../../stage.ts";

const NAMES = ["Otto", "Clara", "Emil", "Greta"];
const nameOf = (type: AdapterType): string => NAMES[TYPES.indexOf(type)] ?? type;
/** The agent with a wrong setting: its failure is there to be fixed on the page. */
export const BAD_IMAGE = "Nemo";

export interface Staff {
  readonly agents: readonly Agent[];
  /** Which CLI an agent runs, for people. */
  titleOf(agent: Agent): string;
  /** Gives a minute of work to each good agent that has none; how many those are. */
  work(): Promise<number>;
}

/** An agent of each kind, and one whose image does not exist; those of an earlier start get the new addresses of cluster and model. */
export async function hireStaff(stage: AnyStage): Promise<Staff> {
  const { company } = stage;
  const known = await company.agents();
  const engage = async (name: string, type: AdapterType, more: Readonly<Record<string, unknown>> = {}): Promise<Agent> => {
    const agent = known.find((each) => each.name === name);
    if (agent === undefined) return company.hire(name, type, { ...stage.config(type), ...more });
    // Whoever has corrected its image keeps that.
    const { image } = agent.adapterConfig;
    return company.configure(agent.id, { ...stage.config(type), ...(image === undefined ? {} : { image }) });
  };
  const good: Agent[] = [];
  for (const type of TYPES) good.push(await engage(nameOf(type), type));
  const bad = await engage(BAD_IMAGE, USUAL_TYPE, { image: "no-such-image:1" });
  const titleOf = ({ adapterType }: Agent) => KINDS[adapterType as AdapterType].title;
  return { agents: [...good, bad], titleOf, work: () => giveWork(stage, good) };
}

async function giveWork({ company }: AnyStage, agents: readonly Agent[]): Promise<number> {
  const runs = await company.allRuns();
  const idle = agents.filter(({ id }) => !runs.some((run) => run.agentId === id && /queued|running|scheduled_retry/.test(run.status)));
  for (const { id, name } of idle) {
    // The host takes a second issue with the same words for a mistake.
    const round = (await company.issuesOf(id)).length + 1;
    await company.assign(id, `${name}, work for a minute (${round})`, "Report what you see, step by step, and then close this issue.");
  }
  return idle.length;
}
