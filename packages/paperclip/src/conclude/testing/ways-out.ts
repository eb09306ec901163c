// Every kind of end with what follows from it, for the tests of the way out.
import type { Evidence } from "@paperclip-k8s/engine";
import type { CliFault, FaultKind } from "../../agent-cli/fault.ts";
import { exampleEvidence, exampleResult, exited, type OutcomeKind } from "../../testing/example-attempt.ts";
import type { AttemptResult } from "../attempts.ts";
import { failureOf } from "../failure.ts";
import { type Way, type WayOut, wayOut } from "../way-out.ts";

/** What was done and what is proved, in four cases that decide together with the kind of end. */
export const idle = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, text: "", costUsd: null };
const unproved: Partial<Evidence> = { proof: "none", endRecord: null };
export const cases = {
  "nothing done": { report: idle, sessionId: null, evidence: {} },
  "a kept session": { report: {}, sessionId: "ses", evidence: {} },
  "no session": { report: {}, sessionId: null, evidence: {} },
  "end not proved": { report: {}, sessionId: "ses", evidence: unproved },
} as const;
export type Case = keyof typeof cases;

interface Options {
  readonly fault?: CliFault;
  readonly evidence?: Partial<Evidence>;
  readonly earlier?: AttemptResult[];
  readonly isLastRetry?: boolean;
}

export function out(outcome: OutcomeKind, name: Case, { fault, evidence, earlier = [], isLastRetry = false }: Options = {}): WayOut {
  const { report, sessionId, evidence: proof } = cases[name];
  const last = exampleResult(outcome, { report, fault: fault ?? null, evidence: { ...proof, ...evidence } });
  const failure = failureOf(last);
  if (failure === null) throw new Error("not a failure");
  return wayOut({ earlier, last }, failure, sessionId, isLastRetry);
}

export const killed = (by: string): OutcomeKind => ({ kind: "killed", by, message: "m", remedy: null, exitCode: 137 }) as OutcomeKind;
export const started = (permanent: boolean): OutcomeKind => ({ kind: "never-started", cause: "image", message: "m", permanent });
export const faultOf = (kind: FaultKind): CliFault => ({ kind, message: "m", retryAfterSec: null });

/** What the host may be given: evidence that frees the issue, or none. */
export const evidenceOf = ({ executionRecovery, resultJson }: WayOut): string =>
  executionRecovery?.kind ?? (resultJson.conversationContinuation === undefined ? "none" : "marker");

type Expected = readonly [Way, string];
export const rows: readonly (readonly [string, OutcomeKind, Options, Readonly<Record<Case, Expected>>])[] = [
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
  ["a quota, at the host's last retry", exited(1), { fault: faultOf("quota"), isLastRetry: true }, always("continue", "marker")],
  [
    "a busy provider, at the host's last retry",
    exited(1),
    { fault: faultOf("transient"), isLastRetry: true },
    always("continue", "marker"),
  ],
  ["a limit of turns, at the host's last retry", exited(1), { fault: faultOf("step-limit"), isLastRetry: true }, always("retry", "none")],
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
    "an eviction, at the host's last retry",
    killed("eviction"),
    { isLastRetry: true },
    { ...always("continue", "marker"), "end not proved": ["held", "none"] },
  ],
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
    "the same at the host's last retry",
    { kind: "timed-out", by: "runner", exitCode: 143 },
    { fault: faultOf("quota"), isLastRetry: true },
    { ...always("continue", "marker"), "end not proved": ["held", "none"] },
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
    "a takeover that nobody confirmed",
    { kind: "never-started", cause: "takeover-failed", message: "m", permanent: false },
    {},
    always("retry", "bootstrap"),
  ],
  [
    "a takeover that nobody confirmed, at the host's last retry",
    { kind: "never-started", cause: "takeover-failed", message: "m", permanent: false },
    { isLastRetry: true },
    always("held", "none"),
  ],
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
