import { expect } from "vitest";
import type { AdapterType } from "../../src/agent-kinds.ts";
import { CLOSE } from "../../src/ends/endings.ts";
import type { Agent, Issue, Run } from "../../src/host/company.ts";
import { nextRun, runEnd } from "../../src/host/follow.ts";
import type { AnyStage } from "../../src/stage.ts";
import { HANG_MS, until } from "../../src/wait.ts";

export interface Closed {
  readonly agent: Agent;
  readonly issue: Issue;
  readonly run: Run;
}

/** An issue is assigned; a Job with the real CLI works on it; the agent itself comments and closes it; the run has succeeded and its cost is booked. `hostType`: the built-in type whose place is taken. */
export async function closesItsIssue(stage: AnyStage, type: AdapterType, hostType: string = type): Promise<Closed> {
  const { company } = stage;
  const agent = await company.hire(`Closer ${hostType}`, hostType, stage.config(type));
  const issue = await company.assign(agent.id, `Close ${hostType}`, CLOSE);
  const run = await runEnd(company, (await nextRun(company, agent)).id);
  expect(run).toMatchObject({ status: "succeeded", errorCode: null, error: null });
  expect(run.usageJson).toMatchObject({ usageSource: "per_run", outputTokens: 114 });
  expect(run.usageJson?.costUsd).toBeGreaterThan(0);
  // What the host itself puts among an agent's settings is no reason for a warning.
  expect(JSON.stringify(await company.log(run.id))).not.toContain("is not a setting");
  expect(await company.issue(issue.id)).toMatchObject({ status: "done" });
  const comments = await company.comments(issue.id);
  expect(comments).toContainEqual(expect.objectContaining({ authorAgentId: agent.id, body: expect.stringContaining("The work is done") }));
  // The host books costs a moment after it closes the run.
  await expect.poll(() => company.issueCosts(issue.id), { timeout: HANG_MS }).toMatchObject({ outputTokens: 114 });
  await noJobOf(stage, agent);
  return { agent, issue, run };
}

/** It is deleted behind the run's result, and its pod before it. */
export const noJobOf = (stage: AnyStage, agent: Agent): Promise<boolean> =>
  until(`the end of the Jobs of ${agent.id}`, async () => !(await stage.jobs()).some((name) => name.includes(agent.id.slice(0, 13))));
