import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TYPES } from "../../src/agent-kinds.ts";
import { MEETING_PLACE } from "../../src/cluster/overlay.ts";
import type { ClusterStage } from "../../src/cluster/stage.ts";
import type { Agent, Issue, Run } from "../../src/host/company.ts";
import { until } from "../../src/wait.ts";

export interface Task {
  readonly name: string;
  readonly agent: Agent;
  readonly issue: Issue;
}

/** Issues whose agents write a numbered line every few seconds, until a comment asks them to close them. */
export interface LiveTasks {
  readonly tasks: readonly Task[];
  /** What the agents themselves have noted: for each line the pod and the process of the CLI that it came from. */
  written(task: Task): string[];
  runsOf(task: Task): Promise<Run[]>;
  finish(): Promise<void>;
}

/** One agent of each kind; comes back when every task has a few lines. */
export async function startTasks(stage: ClusterStage, count: number): Promise<LiveTasks> {
  const { company, deployed } = stage;
  const here = join(deployed.data, MEETING_PLACE.replace("/paperclip/", ""));
  const [heavy, light] = await Promise.all(TYPES.map((type) => company.hire(`Live ${type}`, type, stage.config(type))));
  const tasks = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      // The first CLI's start takes four times the work of the second's, so it has one of three.
      const [name, agent] = [`task-${index}`, (index % 3 === 0 ? heavy : light)!];
      return { name, agent, issue: await company.assign(agent.id, name, script(name)) };
    }),
  );
  const written = ({ name }: Task) => linesIn(join(here, name));
  await until("every task at work", async () => tasks.every((task) => written(task).length >= 2));
  return {
    tasks,
    written,
    runsOf: async ({ agent, issue }) =>
      (await company.runs(agent.id)).filter(({ contextSnapshot }) => contextSnapshot?.issueId === issue.id).reverse(),
    finish: () => writeFile(join(here, "finish"), ""),
  };
}

const script = (name: string): string => `repeat:live-task ${MEETING_PLACE}/${name} $PPID #`;

function linesIn(file: string): string[] {
  try {
    return readFileSync(file, "utf8").trim().split("\n");
  } catch {
    return []; // not begun
  }
}
