import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { describe, expect, test } from "vitest";
import { endRecord, factsOf, jobView, podView, running, terminated } from "../cluster/example-run.ts";
import { verdict } from "../cluster/verdict.ts";
import { listing } from "../commands/recover.ts";
import type { HeldIssue } from "../host/held-issues.ts";
import { jobsOf, judge } from "./judge-hold.ts";

const now = new Date("2026-01-02T00:00:00Z");
const issue = (change: Partial<HeldIssue> = {}): HeldIssue => ({
  id: "issue-1",
  identifier: "ACME-7",
  title: "Say hello",
  status: "blocked",
  companyId: "company-1",
  runId: "0b5b9c1e-aaaa-bbbb-cccc-000000000000",
  actionId: "action-1",
  cause: "legacy_execution_requires_reconciliation",
  run: { status: "interrupted", errorCode: "server_shutdown_interrupted", agentId: "agent-1" },
  earlier: [],
  ...change,
});
const found = (pod: ReturnType<typeof podView>, ours = true) => ({
  namespace: "agents",
  job: jobView(),
  pods: [pod],
  runIds: [issue().runId],
  ours,
  verdict: verdict(factsOf({ pods: [pod] })),
});
const over = found(podView(terminated(0)));

describe("what may be released", () => {
  test("a run that the server lost, whose Job is over", () => {
    expect(judge(issue(), [over], null, false, now)).toMatchObject({ statement: { actionOutcome: "completed" } });
    const lost = issue({ run: { status: "failed", errorCode: "process_lost", agentId: null } });
    expect(judge(lost, [over], null, false, now)).toMatchObject({ statement: { actionOutcome: "completed" } });
  });

  test("a run whose Job is gone, by the record it left", () => {
    const judged = judge(issue(), [], endRecord({ exitCode: 1 }), false, now);
    expect(judged).toMatchObject({
      statement: { actionOutcome: "mixed", evidence: expect.stringContaining("the record it left on the volume") },
    });
  });

  test("a run that failed by itself, only when somebody names its issue", () => {
    const failed = issue({ run: { status: "failed", errorCode: "adapter_failed", agentId: "a" } });
    expect(judge(failed, [over], null, false, now)).toMatchObject({ statement: null, summary: expect.stringContaining("--issue ACME-7") });
    expect(judge(failed, [over], null, true, now).statement).not.toBeNull();
  });
});

test("a run that was stopped before it took the Job over is judged by that Job, and the statement says so", () => {
  const earlier = { ...over, job: jobView({ annotations: { [ANNOTATION.taskId]: "issue-1" } }), runIds: ["first-run"] };
  const held = issue({ earlier: ["retry", "first-run"] });
  expect(jobsOf(held, [earlier])).toEqual([earlier]);
  expect(judge(held, jobsOf(held, [earlier]), null, false, now)).toMatchObject({
    statement: {
      actionOutcome: "completed",
      evidence: expect.stringContaining(`of run first-run, which run ${held.runId} was to go on with, is over`),
    },
  });
  // Of another task, or of nobody it continues; or it has one of its own.
  expect(jobsOf(held, [{ ...earlier, job: jobView() }])).toEqual([]);
  expect(jobsOf(issue(), [earlier])).toEqual([]);
  expect(jobsOf(held, [earlier, over])).toEqual([over]);
});

describe("what may not", () => {
  test.each([
    ["a Job that lives", judge(issue(), [found(podView(running))], null, true, now), /^alive: its pod runs since 2026/],
    ["one of two that lives", judge(issue(), [over, found(podView(running))], null, true, now), /^alive/],
    ["no Job and no record", judge(issue(), [], null, true, now), /^unknown: no Job/],
    ["a Job of an older version", judge(issue(), [found(podView(terminated(0)), false)], null, true, now), /by hand/],
    ["an issue that its agent has finished", judge(issue({ status: "done" }), [over], null, true, now), /would reopen it/],
    ["a hold that is the host's own", judge(issue({ actionId: null }), [over], null, true, now), /waits for its own clean-up/],
  ])("%s", (_, judged, summary) => {
    expect(judged).toMatchObject({ statement: null, summary: expect.stringMatching(summary) });
  });
});

test("the list is plain, and no wider than a page", () => {
  const lines = listing(
    [judge(issue(), [over], null, false, now), judge(issue(), [found(podView(running))], null, false, now)],
    ["agents"],
  );
  expect(lines[0]).toMatch(/^ISSUE +RUN +ENDED AS +JOB$/);
  expect(lines[1]).toMatch(/^ACME-7 {2}0b5b9c1e {2}interrupted {2}over: the agent exited with code 0;/);
  expect(lines.at(-1)).toBe("2 issues held, 1 to be released; Jobs looked for in namespace agents");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(listing([], ["agents"])).toEqual(["no issue is held"]);
});
