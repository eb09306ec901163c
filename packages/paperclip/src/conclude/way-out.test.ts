import type { Evidence } from "@paperclip-k8s/engine";
import { describe, expect, test } from "vitest";
import { exampleEvidence, exampleResult, exited, type OutcomeKind } from "../testing/example-attempt.ts";
import { type Case, cases, evidenceOf, faultOf, idle, killed, out, rows, started } from "./testing/ways-out.ts";
import { wayOut } from "./way-out.ts";

const MARKER = { conversationContinuation: "continue_conversation_v1" };
const BOOTSTRAP = { kind: "bootstrap", providerWorkStarted: false };

describe("who goes on, and with which evidence", () => {
  test.each(rows)("%s", (_, outcome, options, expected) => {
    const found = Object.keys(cases).map((name) => {
      const result = out(outcome, name as Case, options);
      return [name, [result.way, evidenceOf(result)]];
    });
    expect(Object.fromEntries(found)).toEqual(expected);
  });
});

test("what waits for a person has the host's code, our own cause, and nothing that makes the host try again", () => {
  const people = rows
    .flatMap(([, outcome, options]) => Object.keys(cases).map((name) => out(outcome, name as Case, options)))
    .filter(({ way }) => way === "person");
  expect(people.length).toBeGreaterThan(20);
  for (const result of people) {
    expect(result).toMatchObject({
      errorCode: "configuration_incomplete",
      resultJson: { cause: expect.any(String), configurationIncomplete: { fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) } },
    });
    expect(result).not.toHaveProperty("errorFamily");
    expect(result).not.toHaveProperty("retryNotBefore");
  }
  expect(new Set(people.map(({ resultJson }) => resultJson.cause))).toEqual(
    new Set([
      "auth_required",
      "model_not_found",
      "configuration_incomplete",
      "llm_request_refused",
      "context_overflow",
      "k8s_oom_killed",
      "output_limit_exceeded",
      "k8s_job_deleted_externally",
      "k8s_pod_schedule_failed",
      "k8s_concurrent_run_blocked",
    ]),
  );
});

test("tools that were used, text and tokens each prove that a refused run had worked", () => {
  for (const report of [{ usedTools: true }, { text: "t" }, { outputTokens: 1 }, { inputTokens: 1 }]) {
    const last = exampleResult(exited(1), { report: { ...idle, ...report }, fault: faultOf("auth") });
    expect(wayOut({ earlier: [], last }, { errorCode: "auth_required", errorMessage: "m" }, null, false).executionRecovery).toBeUndefined();
  }
});

test("what an earlier attempt has worked on is not claimed to be untouched", () => {
  const earlier = [exampleResult(exited(1))];
  const none = { evidence: { jobUid: null }, earlier };
  for (const outcome of [started(false), started(true), { kind: "detached", reason: "r" } as OutcomeKind])
    expect(evidenceOf(out(outcome, "nothing done", none))).toBe("marker");
  expect(evidenceOf(out({ kind: "cancelled", reason: "r", exitCode: null, stopped: true }, "nothing done", none))).toBe("marker");
});

test("an acknowledged cancel says when and how; one before the start claims nothing more", () => {
  const cancelled: OutcomeKind = { kind: "cancelled", reason: "r", exitCode: 143, stopped: true };
  const acknowledged = { state: "acknowledged", acknowledgedAt: "1970-01-01T00:00:00.000Z" };
  expect(out(cancelled, "a kept session")).toEqual({
    way: "free",
    errorCode: "cancelled",
    executionRecovery: { kind: "interrupted", providerStopped: true, sessionPreserved: true, actionOutcomes: "settled" },
    resultJson: { executionCancellation: { ...acknowledged, forced: false } },
  });
  const forced = { evidence: { endRecord: { signal: "SIGKILL" } as Evidence["endRecord"] } };
  expect(out(cancelled, "no session", forced).resultJson).toMatchObject({
    executionCancellation: { ...acknowledged, forced: true },
    ...MARKER,
  });
  expect(out(cancelled, "nothing done", { evidence: { jobUid: null } }).executionRecovery).toEqual(BOOTSTRAP);
  // A volume that did not answer hid the start; the container ran all the same.
  const hidden = {
    container: { kind: "terminated", exitCode: 143 },
    timings: { ...exampleEvidence.timings, started: null },
  } as Partial<Evidence>;
  expect(out(cancelled, "nothing done", { evidence: hidden }).executionRecovery).toBeUndefined();
});

test("the provider's own time, and a retry of what the cluster took, reach the host", () => {
  const quota = { ...faultOf("quota"), retryAfterSec: 60 };
  expect(out(exited(1), "a kept session", { fault: quota })).toMatchObject({
    errorCode: "provider_quota",
    errorFamily: "provider_quota",
    retryNotBefore: "1970-01-01T00:01:00.000Z",
  });
  expect(out(killed("eviction"), "a kept session")).toMatchObject({ errorCode: "k8s_evicted", errorFamily: "transient_upstream" });
  expect(out(killed("eviction"), "no session")).not.toHaveProperty("errorFamily");
});

test("after the host's last retry a person learns of it, and the host keeps what it knows of the provider", () => {
  const quota = { ...faultOf("quota"), retryAfterSec: 60 };
  expect(out(exited(1), "a kept session", { fault: quota, isLastRetry: true })).toEqual({
    way: "continue",
    errorCode: "provider_quota",
    errorFamily: "provider_quota",
    retryNotBefore: "1970-01-01T00:01:00.000Z",
    resultJson: MARKER,
  });
});

test("a takeover that nobody confirmed keeps its code at the last retry: by that the next run finds the Job", () => {
  const unconfirmed: OutcomeKind = { kind: "never-started", cause: "takeover-failed", message: "m", permanent: false };
  expect(out(unconfirmed, "nothing done", { isLastRetry: true })).toEqual({
    way: "held",
    errorCode: "k8s_takeover_failed",
    resultJson: {},
  });
});
