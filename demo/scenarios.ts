import type { Stage } from "./stage.ts";
import { playTurn, type Result, type TurnReport } from "./turn.ts";

/** What a scenario needs of the screen. */
export interface Screen {
  title(text: string, task: string): void;
  line(line: string): void;
  note(text: string): void;
  report(report: TurnReport): void;
}

export interface Scenario {
  readonly flag: string | null;
  readonly about: string;
  /** True when the run ended as the scenario promises. */
  play(stage: Stage, screen: Screen): Promise<boolean>;
}

export const scenarios: readonly Scenario[] = [
  { flag: null, about: "two turns of one session: a tool call, then what the agent remembers", play: twoTurns },
  { flag: "--fail", about: "a run that fails: the model refuses the request", play: failing },
  { flag: "--cancel", about: "a run that is cancelled while it works", play: cancelled },
  { flag: "--oom", about: "a run whose CLI is killed because the container is out of memory", play: outOfMemory },
];

async function twoTurns(stage: Stage, screen: Screen): Promise<boolean> {
  const first = await show(stage, screen, "Turn 1", "Have a look around: use-tool once, then say that you are done.");
  const task = "remember: which messages did you get so far?";
  const second = await show(stage, screen, "Turn 2, the same session", task, { session: first.sessionParams ?? null });
  const remembers = second.summary?.includes("Have a look around") ?? false;
  return isSuccess(first) && isSuccess(second) && first.sessionId === second.sessionId && remembers;
}

async function failing(stage: Stage, screen: Screen): Promise<boolean> {
  const result = await show(stage, screen, "A failing run", "Cause a model-error, please.");
  return result.exitCode !== 0 && Boolean(result.errorMessage);
}

async function cancelled(stage: Stage, screen: Screen): Promise<boolean> {
  const result = await show(stage, screen, "A cancelled run", "Take your time: slow-60.", {
    whenStarted: ({ cancel }) => setTimeout(() => cancel("by an operator, after 3 s"), 3000),
  });
  return result.errorCode === "cancelled";
}

async function outOfMemory(stage: Stage, screen: Screen): Promise<boolean> {
  const kill = () => {
    const pod = stage.cluster.list("pods", "agents").find((candidate) => candidate.status.phase === "Running");
    screen.note("the embedded cluster now kills the CLI, as the kernel does at the memory limit");
    if (pod !== undefined) stage.cluster.faults.oom("agents", pod.metadata.name, "child");
  };
  const result = await show(stage, screen, "An out-of-memory run", "Take your time: slow-60.", {
    settings: { "resources.limits.memory": "512Mi", "resources.requests.memory": "256Mi" },
    whenStarted: () => setTimeout(kill, 3000),
  });
  return result.resultJson?.cause === "k8s_oom_killed";
}

type Extras = Omit<Parameters<typeof playTurn>[1], "task" | "onLine">;

async function show(stage: Stage, screen: Screen, title: string, task: string, extras: Extras = {}): Promise<Result> {
  screen.title(title, task);
  const report = await playTurn(stage, { task, onLine: (line) => screen.line(line), ...extras });
  screen.report(report);
  return report.result;
}

const isSuccess = (result: Result) => result.exitCode === 0 && !result.errorMessage;
