import { expect, test } from "vitest";
import { jobState } from "../cluster/job-state.ts";
import { endRecord, factsOf, podView, running, terminated, waiting } from "../testing/example-run.ts";
import { reconcile } from "./reconciliation.ts";

const now = new Date("2026-01-02T00:00:00Z");
const subject = { runId: "run-1", namespace: "agents", jobName: "agent-example-otto-1a2b3c", jobUid: "job-uid" };
const stated = (facts: Parameters<typeof factsOf>[0]) => reconcile(jobState(factsOf(facts)), subject, now);

test("exit code 0 is completed, with times, bytes and proof", () => {
  expect(stated({ pods: [podView(terminated(0), { phase: "Succeeded" })], endRecord: endRecord() })).toEqual({
    actionOutcome: "completed",
    evidence:
      "Kubernetes Job agents/agent-example-otto-1a2b3c (uid job-uid) of run run-1 has ended: the agent in pod otto-pod on node node-1 exited with code 0, " +
      "started 2026-01-01T00:00:05Z, finished 2026-01-01T00:59:00Z. It wrote 1234 bytes of output in 12 lines. Proof: end record. " +
      "Read by paperclip-k8s at 2026-01-02T00:00:00.000Z.",
  });
});

test("any other end is mixed: something may have been done", () => {
  expect(stated({ pods: [podView(terminated(137, "OOMKilled"))] })).toMatchObject({
    actionOutcome: "mixed",
    evidence: expect.stringContaining("exited with code 137 (OOMKilled)"),
  });
  const signal = endRecord({ exitCode: null, signal: "SIGKILL" });
  expect(stated({ job: null, endRecord: signal })).toMatchObject({
    actionOutcome: "mixed",
    evidence: expect.stringContaining("ended by SIGKILL"),
  });
});

test("exit code 0 of an agent that was stopped completes nothing", () => {
  const stopped = endRecord({ cause: "stopped" });
  expect(stated({ job: null, endRecord: stopped })).toMatchObject({
    actionOutcome: "mixed",
    evidence: expect.stringContaining("exited with code 0 (stopped from outside)"),
  });
  expect(stated({ job: null, endRecord: endRecord({ cause: "timeout" }) })?.actionOutcome).toBe("mixed");
});

test("what never ran was not performed", () => {
  const pods = [podView(waiting, { phase: "Failed", reason: "DeadlineExceeded" })];
  expect(stated({ pods })).toMatchObject({ actionOutcome: "not_performed", evidence: expect.stringContaining("never ran") });
});

test("of what lives, or is not known, nothing is stated", () => {
  expect(stated({ pods: [podView(running)] })).toBeNull();
  expect(stated({ job: null })).toBeNull();
});
