import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { describe, expect, test } from "vitest";
import { jobState } from "../cluster/job-state.ts";
import type { FoundJob } from "../cluster/jobs.ts";
import { endRecord, factsOf, jobView, podView, running, terminated } from "../testing/example-run.ts";
import { heldIssue as issue, storedResult, waitingIssue } from "../testing/held-issue.ts";
import { type DecisionFacts, decideWaiting, decide as decideWith, jobsOf } from "./decision.ts";
import type { HeldIssue } from "./find/held-issues.ts";
import type { Looked } from "./listing.ts";
import { listing } from "./listing.ts";

const now = new Date("2026-01-02T00:00:00Z");
const decide = (held: HeldIssue, found: readonly FoundJob[], facts: Partial<DecisionFacts> = {}) =>
  decideWith(held, found, { lastEnd: null, isNamed: false, statement: null, now, ...facts });
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
      proof: { kind: "kept end" },
      reconciliation: { actionOutcome: "mixed", evidence: expect.stringContaining("the record it left on the volume") },
    });
    expect(decide(issue(), [], { lastEnd: { record, proved: false } })).toMatchObject({
      summary: expect.stringContaining("exited with code 1, but its signature cannot be checked here"),
      act: "leave",
    });
  });

  test("a run that failed by itself, only when somebody names its issue", () => {
    const failed = issue(run({ status: "failed", errorCode: "adapter_failed" }));
    expect(decide(failed, [ended])).toMatchObject({ act: "leave", summary: expect.stringContaining("--issue ACME-7") });
    expect(decide(failed, [ended], { isNamed })).toMatchObject({ act: "release", proof: { kind: "job" } });
  });

  test("one without Job and records, by the result that the host has stored", () => {
    const failed = issue(run({ status: "failed", errorCode: "auth_required", exitCode: 1, result: storedResult() }));
    expect(decide(failed, [])).toMatchObject({
      act: "leave",
      summary: "ended: the agent exited with code 1; the host has its result; not lost by a restart: --issue ACME-7 starts it again",
    });
    expect(decide(failed, [], { isNamed })).toMatchObject({ act: "release", proof: { kind: "host's record" } });
    // The host's record comes before a Job that cannot be seen clearly.
    const unseen = { ...ended, state: { kind: "unknown", why: "its node does not answer" } as const };
    expect(decide(failed, [unseen], { isNamed })).toMatchObject({ act: "release", proof: { kind: "host's record" } });
  });

  test.each([
    ["timed out", { outcome: "timed-out" }],
    ["killed", { outcome: "killed", proof: "container-state" }],
    ["its Job deleted, its end seen", { outcome: "deleted", proof: "termination-message" }],
    ["cancelled and stopped", { outcome: "cancelled", proof: "none", acknowledged: true }],
    ["never started", { outcome: "never-started", proof: "none" }],
    ["nothing prepared", { outcome: null, proof: null, notStarted: true }],
  ])("by the host's record: %s", (_, result) => {
    const failed = issue(run({ status: "failed", errorCode: "x", result: storedResult(result) }));
    expect(decide(failed, [], { isNamed })).toMatchObject({ act: "release", proof: { kind: "host's record" } });
  });

  test("what nothing proves, by an operator who has looked", () => {
    const statement = "Node worker-2 was reinstalled.";
    expect(decide(issue(), [], { isNamed, statement })).toMatchObject({ act: "release", proof: { kind: "operator", statement } });
  });

  test("an issue that waited for a repair, when somebody names it", () => {
    expect(decideWaiting(waitingIssue(), { isNamed: false })).toMatchObject({
      act: "leave",
      summary: "waits for you: The key was refused. Repair that, then set the issue to todo or run recover --issue ACME-7",
    });
    expect(decideWaiting(waitingIssue({ run: null }), { isNamed: false }).summary).toContain("waits for you: Bind the missing secret(s).");
    expect(decideWaiting(waitingIssue(), { isNamed })).toMatchObject({ act: "restore", actionId: "action-2" });
    const host = { id: null, cause: "execution_owner_active", nextAction: "Wait for cleanup" };
    expect(decideWaiting(waitingIssue({ action: host }), { isNamed })).toMatchObject({ act: "leave" });
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
  const stored = (result: Parameters<typeof storedResult>[0], change: Partial<HeldIssue["run"]> = {}) =>
    issue(run({ status: "failed", errorCode: "x", result: storedResult(result), ...change }));
  test.each([
    ["a Job that lives", decide(issue(), [found(podView(running))], { isNamed }), /^alive: its pod runs since 2026/],
    ["one of two that lives", decide(issue(), [ended, found(podView(running))], { isNamed }), /^alive/],
    ["one that lives whatever the host has stored", decide(stored({}), [found(podView(running))], { isNamed }), /^alive/],
    [
      "one that lives whatever an operator says",
      decide(issue(), [found(podView(running))], { isNamed, statement: "it does not" }),
      /^alive/,
    ],
    [
      "no Job and no record",
      decide(issue(), [], { isNamed }),
      /^unknown: no Job .*if you know that it has stopped: --issue ACME-7 --stopped/,
    ],
    ["a Job of an older version", decide(issue(), [found(podView(terminated(0)), false)], { isNamed }), /by hand/],
    [
      "an issue that its agent has finished",
      decide(issue({ status: "done" }), [ended], { isNamed }),
      /is done, .*set it to todo, then --issue/,
    ],
    ["a hold that is the host's own", decide(issue({ actionId: null }), [ended], { isNamed }), /waits for its own clean-up/],
    [
      "a stored result that left its Job behind",
      decide(stored({ outcome: "detached" }, { errorCode: "k8s_detached" }), [], { isNamed }),
      /^unknown/,
    ],
    ["one that another run took over", decide(stored({ outcome: "superseded" }), [], { isNamed }), /^unknown/],
    ["one whose end nobody saw", decide(stored({ outcome: "end-unknown" }), [], { isNamed }), /^unknown/],
    ["one that was deleted unseen", decide(stored({ outcome: "deleted", proof: "none" }), [], { isNamed }), /^unknown/],
    ["a cancel that the pod did not confirm", decide(stored({ outcome: "cancelled", proof: "none" }), [], { isNamed }), /^unknown/],
    [
      "a run of a later take-over",
      decide(stored({ outcome: "never-started" }, { errorCode: "k8s_takeover_failed" }), [], { isNamed }),
      /^unknown/,
    ],
    ["a result of somebody else", decide(stored({ outcome: null, proof: null }), [], { isNamed }), /^unknown/],
  ])("%s", (_, decision, summary) => {
    expect(decision).toMatchObject({ act: "leave", summary: expect.stringMatching(summary) });
  });
});

describe("the list", () => {
  const search = { companies: ["a", "b"], openIssues: 34, unaudited: 0, partlyAudited: 0 };
  const looked: Looked = { search, namespaces: ["agents"], finished: [] };

  test("is plain, and no wider than a page", () => {
    const failed = { status: "failed", errorCode: "configuration_incomplete", result: storedResult({ cause: "auth_required" }) };
    const waiting = decideWaiting(waitingIssue({ run: { ...issue().run, ...failed } }), { isNamed: false });
    const lines = listing([decide(issue(), [ended]), decide(issue(), [found(podView(running))]), waiting], looked);
    expect(lines[0]).toMatch(/^ISSUE +RUN +ENDED AS +STATE$/);
    expect(lines[1]).toMatch(/^ACME-7 {2}0b5b9c1e {2}interrupted {11}ended: the agent exited with code 0;/);
    expect(lines.join("\n")).toContain("failed/auth_required  waits for you");
    expect(lines.slice(-2).join(" ")).toBe(
      "2 issues held, 1 to be released, of 34 open issues in 2 companies; 1 issue waits for somebody; Jobs looked for in namespace agents",
    );
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  test("never says that nothing is held without how much was looked at", () => {
    const none = "no issue is held (34 open issues in 2 companies looked at); Jobs looked for in namespace agents";
    expect(listing([], looked)).toEqual([none]);
    expect(listing([], { ...looked, search: { ...search, unaudited: 1, partlyAudited: 1 } })).toEqual([
      none,
      "this key may not read the audit log of 1 company (permission audit:view_agent_actions): there only",
      "blocked issues were looked at, and open ones whose last run did not succeed",
      "the audit log of 1 company is too long to be read as a whole: for older holds only blocked issues",
      "were looked at, and open ones whose last run did not succeed",
    ]);
  });

  test("names what would be held if somebody reopened it", () => {
    expect(listing([], { ...looked, finished: ["ACME-3"] }).at(-1)).toBe("finished, but held if somebody reopens them: ACME-3");
  });
});
