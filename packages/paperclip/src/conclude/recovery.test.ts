import type { RunOutcome } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import type { Failure } from "./failure.ts";
import { recoveryOf } from "./recovery.ts";

const failed: Failure = { errorCode: "x", errorMessage: "x" };
const evidence = (started: number | null, signal: string | null = "SIGTERM") => ({
  jobUid: "uid",
  container: null,
  timings: { started },
  endRecord: started === null ? null : { signal },
  output: { problem: null },
});
function recovery(outcome: object, sessionId: string | null, failure: Failure | null = failed) {
  return recoveryOf({ outcome: outcome as RunOutcome, failure, sessionId, now: 0 });
}

test("success needs no recovery", () => {
  expect(recovery({ kind: "exited", exitCode: 0 }, "ses", null)).toEqual({ resultJson: {} });
});

test("what had not started may simply be tried again", () => {
  expect(recovery({ kind: "never-started", permanent: true }, null)).toEqual({ resultJson: {} });
  for (const kind of ["never-started", "blocked"]) {
    expect(recovery({ kind, permanent: false }, null)).toEqual({
      errorFamily: "transient_upstream",
      executionRecovery: { kind: "bootstrap", providerWorkStarted: false },
      resultJson: {},
    });
  }
});

test("a cancel is acknowledged only if the pod has stopped", () => {
  const cancelled = { kind: "cancelled", stopped: true, evidence: evidence(5) };
  const acknowledged = { executionCancellation: { state: "acknowledged", acknowledgedAt: "1970-01-01T00:00:00.000Z", forced: false } };
  expect(recovery(cancelled, "ses")).toEqual({
    executionRecovery: { kind: "interrupted", providerStopped: true, sessionPreserved: true, actionOutcomes: "settled" },
    resultJson: acknowledged,
  });
  expect(recovery(cancelled, null)).toEqual({ resultJson: acknowledged });
  expect(recovery({ ...cancelled, evidence: evidence(5, "SIGKILL") }, null).resultJson).toMatchObject({
    executionCancellation: { forced: true },
  });
  expect(recovery({ ...cancelled, evidence: evidence(null) }, null)).toEqual({
    executionRecovery: { kind: "bootstrap", providerWorkStarted: false },
    resultJson: acknowledged,
  });
  expect(recovery({ ...cancelled, stopped: false }, "ses")).toEqual({ resultJson: {} });
  // A volume that did not answer hid the start; the container ran all the same.
  const hidden = { ...evidence(null), container: { kind: "terminated", exitCode: 143 } };
  expect(recovery({ ...cancelled, evidence: hidden }, null)).toEqual({ resultJson: acknowledged });
});

test("a run that was let go is continued, session or not; one that had no Job yet is simply run later", () => {
  const marker = { conversationContinuation: "continue_conversation_v1" };
  expect(recovery({ kind: "detached", reason: "upgrade", evidence: evidence(5) }, null)).toEqual({ resultJson: marker });
  expect(recovery({ kind: "detached", reason: "upgrade", evidence: { ...evidence(null), jobUid: null } }, "ses")).toEqual({
    errorFamily: "transient_upstream",
    executionRecovery: { kind: "bootstrap", providerWorkStarted: false },
    resultJson: {},
  });
});

test("a session that is kept goes on after an eviction or when the provider was busy, and never otherwise", () => {
  const marker = { conversationContinuation: "continue_conversation_v1" };
  expect(recovery({ kind: "killed", by: "eviction" }, "ses")).toEqual({ errorFamily: "transient_upstream", resultJson: marker });
  expect(recovery({ kind: "exited", exitCode: 1 }, "ses", { ...failed, errorFamily: "provider_quota" })).toEqual({ resultJson: marker });
  expect(recovery({ kind: "killed", by: "eviction" }, null)).toEqual({ resultJson: {} });
  for (const outcome of [
    { kind: "killed", by: "oom" },
    { kind: "killed", by: "node-loss" },
    { kind: "deleted" },
    { kind: "timed-out" },
    { kind: "lost-sight" },
    { kind: "exited", exitCode: 1 },
  ]) {
    expect(recovery(outcome, "ses")).toEqual({ resultJson: {} });
  }
});
