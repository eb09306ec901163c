import type { Evidence } from "@paperclip-k8s/engine";
import { describe, expect, test } from "vitest";
import type { CliFault, FaultKind } from "../agent-cli/agent-cli.ts";
import { exampleEvidence, exampleResult, exited, type OutcomeKind } from "../testing/example-attempt.ts";
import type { AttemptResult } from "./attempts.ts";
import { failureOf } from "./failure.ts";
import { type Way, type WayOut, wayOut } from "./way-out.ts";

const MARKER = { conversationContinuation: "continue_conversation_v1" };
const BOOTSTRAP = { kind: "bootstrap", providerWorkStarted: false };

/** What was done and what is proved, in four cases that decide together with the kind of end. */
const idle = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, text: "", costUsd: null };
const unproved: Partial<Evidence> = { proof: "none", endRecord: null };
const cases = {
  "nothing done": { report: idle, sessionId: null, evidence: {} },
  "a kept session": { report: {}, sessionId: "ses", evidence: {} },
  "no session": { report: {}, sessionId: null, evidence: {} },
  "end not proved": { report: {}, sessionId: "ses", evidence: unproved },
} as const;
type Case = keyof typeof cases;

interface Options {
  readonly fault?: CliFault;
  readonly evidence?: Partial<Evidence>;
  readonly earlier?: AttemptResult[];
  readonly isLastRetry?: boolean;
}

function out(outcome: OutcomeKind, name: Case, { fault, evidence, earlier = [], isLastRetry = false }: Options = {}): WayOut {
  const { report, sessionId, evidence: proof } = cases[name];
  const last = exampleResult(outcome, { report, fault: fault ?? null, evidence: { ...proof, ...evidence } });
  const failure = failureOf(last);
  if (failure === null) throw new Error("not a failure");
  return wayOut({ earlier, last }, failure, sessionId, isLastRetry);
}

const killed = (by: string): OutcomeKind => ({ kind: "killed", by, message: "m", remedy: null, exitCode: 137 }) as OutcomeKind;
const started = (permanent: boolean): OutcomeKind => ({ kind: "never-started", cause: "image", message: "m", permanent });
const faultOf = (kind: FaultKind): CliFault => ({ kind, message: "m", retryAfterSec: null });

/** What the host may be given: evidence that frees the issue, or none. */
const evidenceOf = ({ executionRecovery, resultJson }: WayOut): string =>
  executionRecovery?.kind ?? (resultJson.conversationContinuation === undefined ? "none" : "marker");

type Expected = readonly [Way, string];
const rows: readonly (readonly [string, OutcomeKind, Options, Readonly<Record<Case, Expected>>])[] = [
  ...(["auth", "model-not-found", "bad-arguments"] as const).map(
    (kind) =>
      [
        `a CLI's fault: ${kind}`,
        exited(1),
        { fault: faultOf(kind) },
        {
          "nothing done": ["person", "bootstrap"],
          "a kept session": ["person", "marker"],
          "no session": ["person", "marker"],
          "end not proved": ["person", "marker"],
        },
      ] as const,
  ),
  [
    "a request that the provider refuses",
    exited(1),
    { fault: faultOf("bad-request") },
    {
      "nothing done": ["person", "bootstrap"],
      "a kept session": ["continue", "marker"],
      "no session": ["continue", "marker"],
      "end not proved": ["continue", "marker"],
    },
  ],
  ["a context that is too long", exited(1), { fault: faultOf("context-overflow") }, always("person", "marker")],
  ["a quota", exited(1), { fault: faultOf("quota") }, always("retry", "marker")],
  ["a busy provider", exited(1), { fault: faultOf("transient") }, always("retry", "marker")],
  ["a limit of turns, which the host knows", exited(1), { fault: faultOf("step-limit") }, always("retry", "none")],
  ["a refusal of the model", exited(0), { fault: faultOf("refusal") }, always("continue", "marker")],
  ["an output that breaks off", exited(0), { fault: faultOf("truncated") }, always("continue", "marker")],
  ["a CLI that failed", exited(1), {}, always("continue", "marker")],
  ["a CLI ended by a signal", exited(null, "SIGKILL"), {}, always("continue", "marker")],
  [
    "forged output",
    exited(0),
    { evidence: { output: { ...exampleEvidence.output, forged: true, complete: false } } },
    always("held", "none"),
  ],
  [
    "a child process out of memory",
    exited(1),
    { evidence: { memory: { ...exampleEvidence.memory, killed: true }, warnings: ["killed"] } },
    always("person", "marker"),
  ],
  ["out of memory", killed("oom"), {}, always("person", "marker")],
  ["too much output", killed("output-limit"), {}, always("person", "marker")],
  ["a runner that failed", killed("runner"), {}, { ...always("continue", "marker"), "end not proved": ["held", "none"] }],
  ["a lost node", killed("node-loss"), {}, always("held", "none")],
  ...["eviction", "preemption"].map(
    (by) =>
      [
        by,
        killed(by),
        {},
        {
          "nothing done": ["continue", "marker"],
          "a kept session": ["retry", "marker"],
          "no session": ["continue", "marker"],
          "end not proved": ["held", "none"],
        },
      ] as const,
  ),
  [
    "a time limit",
    { kind: "timed-out", by: "runner", exitCode: 143 },
    {},
    { ...always("continue", "marker"), "end not proved": ["held", "none"] },
  ],
  [
    "a time limit reached while waiting for a quota",
    { kind: "timed-out", by: "runner", exitCode: 143 },
    { fault: faultOf("quota") },
    { ...always("retry", "marker"), "end not proved": ["held", "none"] },
  ],
  [
    "a deleted Job",
    { kind: "deleted", what: "job", message: "m", exitCode: 143 },
    {},
    { ...always("person", "marker"), "end not proved": ["held", "none"] },
  ],
  ["a start that only a change helps", started(true), {}, always("person", "bootstrap")],
  ["a start that may succeed later", started(false), {}, always("retry", "bootstrap")],
  ["a start that may succeed later, at the host's last retry", started(false), { isLastRetry: true }, always("person", "bootstrap")],
  ["a taken lock", { kind: "blocked", code: null, message: "m", byJob: "j", byRun: null }, {}, always("retry", "bootstrap")],
  [
    "a taken lock, at the host's last retry",
    { kind: "blocked", code: null, message: "m", byJob: "j", byRun: null },
    { isLastRetry: true },
    always("person", "bootstrap"),
  ],
  ["a Job left to the next server", { kind: "detached", reason: "r" }, {}, always("retry", "marker")],
  ["a drain before there was a Job", { kind: "detached", reason: "r" }, { evidence: { jobUid: null } }, always("retry", "bootstrap")],
  ["a Job that another run has", { kind: "superseded", byRun: "r" }, {}, always("held", "none")],
  ["an unknown end", { kind: "end-unknown", message: "m" }, {}, always("held", "none")],
  ["a pod that was not found again", { kind: "reattach-failed", message: "m" }, {}, always("held", "none")],
  ["a cancel that nobody confirmed", { kind: "cancelled", reason: "r", exitCode: null, stopped: false }, {}, always("held", "none")],
  [
    "a cancel",
    { kind: "cancelled", reason: "r", exitCode: 143, stopped: true },
    {},
    {
      "nothing done": ["free", "marker"],
      "a kept session": ["free", "interrupted"],
      "no session": ["free", "marker"],
      "end not proved": ["free", "interrupted"],
    },
  ],
];

function always(way: Way, evidence: string): Readonly<Record<Case, Expected>> {
  return Object.fromEntries(Object.keys(cases).map((name) => [name, [way, evidence]])) as unknown as Readonly<Record<Case, Expected>>;
}

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
