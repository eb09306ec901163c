import type { Evidence, RunOutcome } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import { exampleEvidence, exampleResult, exited } from "../testing/example-attempt.ts";
import type { AttemptResult } from "./attempts.ts";
import type { Failure } from "./failure.ts";
import { recoveryOf } from "./recovery.ts";

const failed: Failure = { errorCode: "x", errorMessage: "x" };
const evidence = (started: number | null, signal: string | null = "SIGTERM") =>
  ({
    ...exampleEvidence,
    container: null,
    timings: { ...exampleEvidence.timings, started },
    endRecord: started === null ? null : { signal },
  }) as Evidence;
function recovery(outcome: object, sessionId: string | null, failure: Failure | null = failed, earlier: AttemptResult[] = []) {
  const last = { ...exampleResult(), outcome: { evidence: exampleEvidence, ...outcome } as RunOutcome };
  return recoveryOf({ earlier, last }, failure, sessionId);
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

test("what an earlier attempt has worked on is not claimed to be untouched, whichever way the last one did not start", () => {
  const worked = [exampleResult(exited(1))];
  const none = { ...exampleEvidence, jobUid: null };
  const ends = [{ kind: "never-started", permanent: false }, { kind: "blocked" }, { kind: "detached", reason: "upgrade", evidence: none }];
  for (const outcome of ends) {
    expect(recovery(outcome, null, failed, worked)).toEqual({ errorFamily: "transient_upstream", resultJson: {} });
    const marker = { conversationContinuation: "continue_conversation_v1" };
    expect(recovery(outcome, "ses", failed, worked)).toEqual({ errorFamily: "transient_upstream", resultJson: marker });
  }
  const cancelled = { kind: "cancelled", stopped: true, evidence: none };
  expect(recovery(cancelled, null, failed, worked).executionRecovery).toBeUndefined();
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
    { kind: "end-unknown" },
    { kind: "exited", exitCode: 1 },
  ]) {
    expect(recovery(outcome, "ses")).toEqual({ resultJson: {} });
  }
});
