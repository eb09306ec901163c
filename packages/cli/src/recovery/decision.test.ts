import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { describe, expect, test } from "vitest";
import { jobState } from "../cluster/job-state.ts";
import type { FoundJob } from "../cluster/jobs.ts";
import { listing } from "../commands/recover.ts";
import { endRecord, factsOf, jobView, podView, running, terminated } from "../testing/example-run.ts";
import { heldIssue as issue } from "../testing/held-issue.ts";
import { type DecisionFacts, decide as decideWith, jobsOf } from "./decision.ts";
import type { HeldIssue } from "./held-issues.ts";

const now = new Date("2026-01-02T00:00:00Z");
const decide = (held: HeldIssue, found: readonly FoundJob[], facts: Partial<DecisionFacts> = {}) =>
  decideWith(held, found, { lastEnd: null, isNamed: false, now, ...facts });
const run = (change: Partial<HeldIssue["run"]>) => ({ run: { ...issue().run, ...change } });
const isNamed = true;
const found = (pod: ReturnType<typeof podView>, ours = true) => ({
  namespace: "agents",
  job: jobView(),
  pods: [pod],
  runIds: [issue().run.id],
  ours,
  state: jobState(factsOf({ pods: [pod] })),
});
const ended = found(podView(terminated(0)));

describe("what may be released", () => {
  test("a run that the server lost, whose Job has ended", () => {
    expect(decide(issue(), [ended])).toMatchObject({ reconciliation: { actionOutcome: "completed" } });
    // The same codes by which a run takes a Job over: one that left its Job, or may have got it, is lost too.
    for (const errorCode of ["process_lost", "server_shutdown_interrupted", "k8s_detached", "k8s_takeover_failed"]) {
      const lost = issue(run({ status: "failed", errorCode }));
      expect(decide(lost, [ended])).toMatchObject({ reconciliation: { actionOutcome: "completed" } });
    }
  });

  test("a run whose Job is gone, by the record it left", () => {
    const record = endRecord({ exitCode: 1 });
    expect(decide(issue(), [], { lastEnd: { record, proved: true } })).toMatchObject({
      reconciliation: { actionOutcome: "mixed", evidence: expect.stringContaining("the record it left on the volume") },
    });
    expect(decide(issue(), [], { lastEnd: { record, proved: false } })).toMatchObject({
      summary: expect.stringContaining("exited with code 1, but its signature cannot be checked here"),
      reconciliation: null,
    });
  });

  test("a run that failed by itself, only when somebody names its issue", () => {
    const failed = issue(run({ status: "failed", errorCode: "adapter_failed" }));
    expect(decide(failed, [ended])).toMatchObject({ reconciliation: null, summary: expect.stringContaining("--issue ACME-7") });
    expect(decide(failed, [ended], { isNamed }).reconciliation).not.toBeNull();
  });
});

test("a run that was stopped before it took the Job over is decided by that Job, and the host gets that", () => {
  const earlier = { ...ended, job: jobView({ annotations: { [ANNOTATION.taskId]: "issue-1" } }), runIds: ["first-run"] };
  const held = issue({ earlier: ["retry", "first-run"] });
  expect(jobsOf(held, [earlier])).toEqual([earlier]);
  expect(decide(held, jobsOf(held, [earlier]))).toMatchObject({
    reconciliation: {
      actionOutcome: "completed",
      evidence: expect.stringContaining(`of run first-run, which run ${held.run.id} was to go on with, has ended`),
    },
  });
  // Of another task, or of nobody it continues; or it has one of its own.
  expect(jobsOf(held, [{ ...earlier, job: jobView() }])).toEqual([]);
  expect(jobsOf(issue(), [earlier])).toEqual([]);
  expect(jobsOf(held, [earlier, ended])).toEqual([ended]);
});

describe("what may not", () => {
  test.each([
    ["a Job that lives", decide(issue(), [found(podView(running))], { isNamed }), /^alive: its pod runs since 2026/],
    ["one of two that lives", decide(issue(), [ended, found(podView(running))], { isNamed }), /^alive/],
    ["no Job and no record", decide(issue(), [], { isNamed }), /^unknown: no Job/],
    ["a Job of an older version", decide(issue(), [found(podView(terminated(0)), false)], { isNamed }), /by hand/],
    ["an issue that its agent has finished", decide(issue({ status: "done" }), [ended], { isNamed }), /would reopen it/],
    ["a hold that is the host's own", decide(issue({ actionId: null }), [ended], { isNamed }), /waits for its own clean-up/],
  ])("%s", (_, decision, summary) => {
    expect(decision).toMatchObject({ reconciliation: null, summary: expect.stringMatching(summary) });
  });
});

test("the list is plain, and no wider than a page", () => {
  const lines = listing([decide(issue(), [ended]), decide(issue(), [found(podView(running))])], ["agents"]);
  expect(lines[0]).toMatch(/^ISSUE +RUN +ENDED AS +JOB$/);
  expect(lines[1]).toMatch(/^ACME-7 {2}0b5b9c1e {2}interrupted {2}ended: the agent exited with code 0;/);
  expect(lines.at(-1)).toBe("2 issues held, 1 to be released; Jobs looked for in namespace agents");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(listing([], ["agents"])).toEqual(["no issue is held"]);
});
