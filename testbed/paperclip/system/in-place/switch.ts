import { basename } from "node:path";
import { expect } from "vitest";
import type { CliName } from "../../../../packages/adapters.ts";
import { CLOSE } from "../../src/ends/endings.ts";
import { adaptersOf } from "../../src/host/adapters.ts";
import type { Agent, Issue, Run } from "../../src/host/company.ts";
import { runEnd } from "../../src/host/follow.ts";
import { type AnyStage, builtInConfig } from "../../src/stage.ts";
import { until } from "../../src/wait.ts";

/** One step of the way to us and back, as it was seen. */
export interface Step {
  readonly what: string;
  readonly runBy: "Job" | "server";
  readonly session: "new" | "kept";
  /** The earlier turns that the model was sent with this one. */
  readonly remembers: readonly number[];
  readonly costUsd: number;
  readonly log: string;
}

/** What a run is: by whom, with which session, and what its model got to see. */
export class Switch {
  readonly type: string;
  readonly steps: Step[] = [];
  readonly #stage: AnyStage;
  readonly #packages: readonly string[];
  readonly #keyIn: "agent" | "server";
  readonly #cli: CliName;
  #agent!: Agent;
  #issue!: Issue;
  #last: Run | undefined;

  /** `packages`: those that take a built-in type's place, as folders of the host. */
  constructor(stage: AnyStage, packages: readonly string[], cli: CliName, keyIn: "agent" | "server") {
    this.#keyIn = keyIn;
    this.#stage = stage;
    this.#packages = packages;
    this.#cli = cli;
    this.type = `${cli}_local`;
  }

  /** An agent as the host's own form makes it, before any adapter of ours is there. */
  async hire(settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { company, llm } = this.#stage;
    this.#agent = await company.hire(`Switched ${this.#cli}`, this.type, {
      ...builtInConfig(llm, `${this.#cli}_k8s`, this.#keyIn),
      ...settings,
    });
  }

  install(): Promise<unknown> {
    const folder = this.#packages.find((each) => basename(each).includes(`-${this.#cli}-`));
    return adaptersOf(this.#stage.host).install(folder ?? "");
  }
  pause = (paused: boolean): Promise<unknown> => adaptersOf(this.#stage.host).pause(this.type, paused);
  remove = (): Promise<unknown> => adaptersOf(this.#stage.host).remove(this.type);
  info = async () => (await adaptersOf(this.#stage.host).list()).find(({ type }) => type === this.type);

  /** The agent is given the issue, or a comment on it, and closes it. */
  async turn(what: string): Promise<Step> {
    const { company, llm } = this.#stage;
    const mark = `turn-${this.steps.length + 1}.`;
    if (this.#last === undefined) this.#issue = await company.assign(this.#agent.id, `Switch ${this.#cli}`, `${CLOSE} ${mark}`);
    else await company.comment(this.#issue.id, `${CLOSE} ${mark}`);
    const newest = () => company.runs(this.#agent.id).then(([run]) => (run === undefined || run.id === this.#last?.id ? null : run));
    const run = await runEnd(company, (await until(`a run: ${what}`, newest)).id);
    expect(run, what).toMatchObject({ status: "succeeded", errorCode: null, error: null });
    await until(`${what}: the issue is done`, async () => (await company.issue(this.#issue.id)).status === "done");
    const seen = llm.requests.findLast(({ userTexts, tools }) => tools > 0 && userTexts.some((text) => text.includes(mark)));
    const pieces = await company.log(run.id);
    const step: Step = {
      what,
      runBy: run.resultJson?.job === undefined ? "server" : "Job",
      session: this.#last !== undefined && run.sessionIdAfter === this.#last.sessionIdAfter ? "kept" : "new",
      remembers: this.steps.map((_, index) => index + 1).filter((turn) => seen?.userTexts.some((text) => text.includes(`turn-${turn}.`))),
      costUsd: Number(run.usageJson?.costUsd ?? 0),
      log: pieces.map(({ chunk }) => chunk).join(""),
    };
    this.steps.push(step);
    this.#last = run;
    return step;
  }
}

/** The steps as a table, for people. */
export function tableOf(title: string, steps: readonly Step[]): string {
  const rows = steps.map(({ what, runBy, session, remembers, costUsd }) => [
    what,
    runBy,
    session,
    remembers.join(" "),
    `$${costUsd.toFixed(4)}`,
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    `## ${title}`,
    "",
    line(["step", "run as", "session", "earlier turns in what the model is sent", "cost"]),
    line(Array(5).fill("---")),
    ...rows.map(line),
    "",
  ].join("\n");
}
