import type { FoundEnd } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import { jobState } from "../cluster/job-state.ts";
import { endRecord, factsOf, jobView, podView, running, terminated, waiting } from "../testing/example-run.ts";
import { heldIssue, runRecord, storedResult } from "../testing/held-issue.ts";
import type { RunRecord } from "./find/run-record.ts";
import { proofOf } from "./proof.ts";
import { reconcile } from "./reconciliation.ts";

const now = new Date("2026-01-02T00:00:00Z");
const runId = runRecord().id;
const jobOf = (facts: Parameters<typeof factsOf>[0]) => ({
  namespace: "agents",
  job: jobView(),
  pods: [],
  runIds: [runId],
  ours: true,
  state: jobState(factsOf(facts)),
});

interface Seen {
  readonly job?: Parameters<typeof factsOf>[0];
  readonly lastEnd?: FoundEnd;
  readonly run?: Partial<RunRecord>;
  readonly statement?: string;
}

function stated({ job, lastEnd = undefined, run = {}, statement }: Seen) {
  const issue = heldIssue({ run: runRecord(run) });
  const facts = { jobs: job === undefined ? [] : [jobOf(job)], lastEnd: lastEnd ?? null, statement: statement ?? null };
  const { proof } = proofOf(issue, facts);
  return proof === null ? null : reconcile(proof, issue, now);
}

test("exit code 0 is completed, with times, bytes and proof", () => {
  expect(stated({ job: { pods: [podView(terminated(0), { phase: "Succeeded" })], endRecord: endRecord() } })).toEqual({
    actionOutcome: "completed",
    evidence:
      `Kubernetes Job agents/agent-example-otto-1a2b3c (uid job-uid) of run ${runId} has ended: the agent in pod otto-pod on node node-1 exited with code 0, ` +
      "started 2026-01-01T00:00:05Z, finished 2026-01-01T00:59:00Z. It wrote 1234 bytes of output in 12 lines. Proof: end record. " +
      "Read by paperclip-k8s at 2026-01-02T00:00:00.000Z.",
  });
});

test("any other end is mixed: something may have been done", () => {
  expect(stated({ job: { pods: [podView(terminated(137, "OOMKilled"))] } })).toMatchObject({
    actionOutcome: "mixed",
    evidence: expect.stringContaining("exited with code 137 (OOMKilled)"),
  });
  const signal = endRecord({ exitCode: null, signal: "SIGKILL" });
  expect(stated({ job: { job: null, endRecord: signal } })).toMatchObject({
    actionOutcome: "mixed",
    evidence: expect.stringContaining("ended by SIGKILL"),
  });
});

test("exit code 0 of an agent that was stopped completes nothing", () => {
  const stopped = endRecord({ cause: "stopped" });
  expect(stated({ job: { job: null, endRecord: stopped } })).toMatchObject({
    actionOutcome: "mixed",
    evidence: expect.stringContaining("exited with code 0 (stopped from outside)"),
  });
  expect(stated({ lastEnd: { record: endRecord({ cause: "timeout" }), proved: true } })?.actionOutcome).toBe("mixed");
});

test("what never ran was not performed", () => {
  const pods = [podView(waiting, { phase: "Failed", reason: "DeadlineExceeded" })];
  expect(stated({ job: { pods } })).toMatchObject({ actionOutcome: "not_performed", evidence: expect.stringContaining("never ran") });
  const result = storedResult({ outcome: null, proof: null, notStarted: true });
  expect(stated({ run: { status: "failed", errorCode: "k8s_job_create_failed", result } })).toMatchObject({
    actionOutcome: "not_performed",
    evidence: expect.stringContaining("the agent was not started"),
  });
});

test("what the host has stored itself is named with its code, and never called completed: it failed", () => {
  const run = { status: "failed", errorCode: "auth_required", exitCode: 1, result: storedResult() };
  expect(stated({ run })).toEqual({
    actionOutcome: "mixed",
    evidence:
      `Run ${runId} ended at 2026-01-01T01:00:00Z as failed/auth_required, and the host has stored the adapter's result: the agent exited with code 1. ` +
      "Its Job was agents/agent-example-otto-1a2b3c. Read by paperclip-k8s at 2026-01-02T00:00:00.000Z.",
  });
  expect(stated({ run: { ...run, result: storedResult({ forged: true }) } })?.evidence).toContain("Others had written to its output.");
});

test("an operator's own word is stated as such", () => {
  expect(stated({ statement: "Node worker-2 was reinstalled." })).toEqual({
    actionOutcome: "mixed",
    evidence: `An operator states that the agent of run ${runId} has stopped: Node worker-2 was reinstalled. Read by paperclip-k8s at 2026-01-02T00:00:00.000Z.`,
  });
});

test("of what lives, or is not known, nothing is stated", () => {
  expect(stated({ job: { pods: [podView(running)] }, statement: "I believe so, certainly" })).toBeNull();
  expect(stated({})).toBeNull();
});
