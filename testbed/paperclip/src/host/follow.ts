import { until } from "../wait.ts";
import type { Agent, Company, Run } from "./company.ts";

const isOver = ({ status }: Run): boolean => !["queued", "running", "scheduled_retry"].includes(status);

/** The run as it ended. */
export const runEnd = (company: Company, id: string): Promise<Run> =>
  until(`the end of run ${id}`, async () => {
    const run = await company.run(id);
    return isOver(run) ? run : null;
  });

/** The agent's newest run, once that is not the known one. */
export const nextRun = (company: Company, agent: Agent, known?: Run): Promise<Run> =>
  until(`a run of ${agent.id}`, async () => {
    const [newest] = await company.runs(agent.id);
    return newest?.id === known?.id ? null : newest;
  });
