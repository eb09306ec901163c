import type { Adoption } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import type { CliReport } from "../agent-cli/agent-cli.ts";
import { fingerprintAnnotation } from "../prepare/resume-fingerprint.ts";
import { mayBeUnsigned, type ResumeFingerprint, sessionCodec } from "../prepare/session.ts";
import { exampleAttempt, exampleEvidence, exampleInputs, exampleResult, exited, type OutcomeKind } from "../testing/example-attempt.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { hostContext } from "../testing/host-context.ts";
import type { AttemptResult } from "./attempts.ts";
import { cancelledAfterwards, conclude } from "./result.ts";

const workspace = { workspaceId: "w-1", repoUrl: "https://example.com/r.git", repoRef: "main" };
const portable = { mode: "portable", spec: {}, env: {} } as unknown as AttemptResult["attempt"]["inputs"]["state"];

interface Changes {
  readonly previous?: Record<string, unknown>;
  readonly sessionId?: string;
  readonly inputs?: Partial<AttemptResult["attempt"]["inputs"]>;
  readonly report?: Partial<CliReport>;
  readonly evidence?: Partial<AttemptResult["outcome"]["evidence"]>;
  readonly adopted?: Adoption;
}

function ended(outcome: OutcomeKind, { previous, sessionId = undefined, inputs, ...changes }: Changes = {}): AttemptResult {
  const { ctx } = hostContext({ context: { paperclipWorkspace: workspace }, session: previous ?? null });
  const attempt = exampleAttempt({ inputs: exampleInputs({ ctx, ...inputs }), sessionId: sessionId ?? null });
  return exampleResult(outcome, { attempt, ...changes });
}
const notStarted = (cause: "image"): OutcomeKind => ({ kind: "never-started", cause, message: "m", permanent: false });
const result = (outcome: OutcomeKind, changes: Changes = {}, earlier: AttemptResult[] = []) =>
  conclude({ earlier, last: ended(outcome, changes) }).result;

test("message and summary of a failure name no user of a home folder; an answer stays as it is", () => {
  const fault = { kind: "other", message: "cannot read /home/alice/.config/x", retryNotBefore: null } as const;
  const last = { ...ended(exited(1), { report: { errors: [fault.message] } }), fault };
  const { errorMessage, summary } = conclude({ earlier: [], last: last as unknown as AttemptResult }).result;
  for (const text of [errorMessage, summary]) {
    expect(text).toContain("/home/a****/.config/x");
    expect(text).not.toContain("alice");
  }
  expect(result(exited(0), { report: { text: "see /home/alice/notes" } }).summary).toBe("see /home/alice/notes");
});

test("a good run: usage, cost, provider, session", () => {
  expect(result(exited(0))).toMatchObject({
    exitCode: 0,
    signal: null,
    timedOut: false,
    usage: { inputTokens: 10, cachedInputTokens: 5, outputTokens: 3 },
    usageBasis: "per_run",
    costUsd: 0.01,
    provider: "acme/m-1",
    billingType: "api",
    model: "acme/m-1",
    summary: "done",
    sessionId: "ses_2",
    sessionDisplayId: "ses_2",
  });
});

test.each<[string, OutcomeKind, Changes, boolean]>([
  ["an end of its own", exited(0), {}, true],
  ["a time limit", { kind: "timed-out", by: "runner", exitCode: 143 }, {}, true],
  ["an end that nobody proved", { kind: "end-unknown", message: "m" }, { evidence: { proof: "none" } }, false],
  ["a Job left to the next server", { kind: "detached", reason: "r" }, {}, false],
  ["a Job that another run has", { kind: "superseded", byRun: "r" }, {}, false],
  ["a start that failed: its Job may still be there", notStarted("image"), { evidence: { proof: "none" } }, false],
  ["a taken lock", { kind: "blocked", code: null, message: "m", byJob: "j", byRun: null }, { evidence: { proof: "none" } }, false],
])("cancelled when it had ended: %s", (_, outcome, changes, isAcknowledged) => {
  const { resultJson } = cancelledAfterwards(conclude({ earlier: [], last: ended(outcome, changes) }));
  expect(resultJson?.executionCancellation !== undefined).toBe(isAcknowledged);
});

test("nothing that a pod said reaches the host's database or pages with control characters in it", () => {
  const said = "a\0b\u001b[2Jc\u202e\ud800";
  const report = { text: said, model: said, sessionId: said, errors: [said], details: { [said]: [said] } };
  const made = result(exited(null, said), { report, evidence: { podName: said, warnings: [said] } });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(JSON.stringify(made)).not.toMatch(/\\u00|\\ud8|[\u202e\x00-\x1f]/);
  expect(made).toMatchObject({
    summary: expect.stringContaining("abc\ufffd"),
    errorMessage: expect.stringContaining("abc\ufffd"),
    signal: "abc\ufffd",
  });
});

test("amounts and times that no CLI would report harm nobody: no credit for other runs, no date that does not exist", () => {
  const report = { inputTokens: -5, outputTokens: 1e300, cachedInputTokens: 2.5, costUsd: -100 };
  expect(result(exited(0), { report })).toMatchObject({ usage: { inputTokens: 0, cachedInputTokens: 3, outputTokens: 1e12 }, costUsd: 0 });
  const waits = (retryAt: number) =>
    conclude({ earlier: [], last: { ...ended(exited(1)), fault: { kind: "quota", message: "m", retryAfterSec: null, retryAt } } }).result
      .retryNotBefore;
  expect([waits(5), waits(1e300), waits(Number.POSITIVE_INFINITY), waits(-1e300)]).toEqual([
    "1970-01-01T00:00:00.005Z",
    "1979-12-30T00:00:00.000Z",
    "1979-12-30T00:00:00.000Z",
    undefined,
  ]);
});

test("every key of the session params survives the codec; unknown ones of the same session stay", () => {
  const previous = { sessionId: "ses_2", fromALaterVersion: { a: 1 } };
  const { sessionParams } = result(exited(0), { previous });
  expect(sessionParams).toEqual({
    sessionId: "ses_2",
    cwd: "/data/work",
    stateMode: "own",
    workspaceId: "w-1",
    repoUrl: "https://example.com/r.git",
    repoRef: "main",
    fromALaterVersion: { a: 1 },
  });
  const stored = JSON.parse(JSON.stringify(sessionCodec.serialize(sessionParams ?? null)));
  expect(sessionCodec.deserialize(stored)).toEqual(sessionParams);
});

test("a failure never shows exit code 0, and the result stays small", () => {
  const failed = result(exited(0), { report: { errors: ["boom"] } });
  expect(failed).toMatchObject({ exitCode: 1, errorMessage: expect.stringContaining("boom"), sessionId: "ses_2" });
  const long = result(exited(0), { report: { text: "x".repeat(1_000_000) } });
  expect(JSON.stringify(long).length).toBeLessThan(16_384);
});

test("warnings of a success are in its result", () => {
  const memory = { ...exampleEvidence.memory, oomKills: 1, killed: true };
  const { resultJson, errorCode } = result(exited(0), { evidence: { warnings: ["a process was killed"], memory } });
  expect(errorCode).toBeUndefined();
  expect(resultJson).toMatchObject({ warnings: ["a process was killed"], oomKills: 1, memoryLimit: "8Gi" });
  expect(result(exited(0)).resultJson).not.toHaveProperty("warnings");
});

test("a session that went with its pod is not promised to the next run", () => {
  expect(result(exited(0), { inputs: { state: { mode: "ephemeral" } } })).toMatchObject({
    sessionId: null,
    sessionParams: null,
  });
});

test("who bills is read from the pod's environment, references too, and the model that answered", () => {
  expect(result(exited(0), { report: { model: "m-2" } })).toMatchObject({ provider: "m-2", biller: "A,C,B" });
});

test("a model is named without the provider that the host shows before it", () => {
  const modelOf = (model: string, provider: string | null) => {
    const cli = { ...exampleCli, billing: () => ({ provider, biller: "acme", type: "api" as const }) };
    return result(exited(0), { report: { model }, inputs: { cli } }).model;
  };
  expect(modelOf("acme/m-1", "acme")).toBe("m-1");
  expect(modelOf("acme/other/m-1", "acme")).toBe("other/m-1");
  expect(modelOf("acme/m-1", null)).toBe("acme/m-1");
  expect(modelOf("m-1", "acme")).toBe("m-1");
});

test("the exit code is the CLI's own, unless the runner ended what was left after the final line", () => {
  const report = { succeeded: true, details: { num_turns: 3 } };
  const byRunner = { endRecord: { cause: "final-line" } } as unknown as Changes["evidence"];
  const good = result(exited(null, "SIGTERM"), { report, evidence: byRunner });
  expect(good).toMatchObject({ exitCode: 0, signal: null, resultJson: { num_turns: 3, leftoversEnded: true } });
  expect(good.errorMessage).toBeUndefined();
  expect(result(exited(3), { report })).toMatchObject({ exitCode: 3, signal: null, errorCode: "adapter_failed", sessionId: "ses_2" });
  expect(result(exited(null, "SIGKILL"), { report })).toMatchObject({ exitCode: null, signal: "SIGKILL", errorCode: "adapter_failed" });
});

test("a session of which nothing was saved is not resumed; one that may have been is, but the host is promised nothing", () => {
  const point = { generation: "g", at: "", bytes: 1, version: null };
  const state = { restored: null, restoreMs: 1, saved: true, last: point, saveMs: 1, error: null };
  const evicted: OutcomeKind = { kind: "killed", by: "eviction", message: "m", remedy: null, exitCode: null };
  const marker = { conversationContinuation: "continue_conversation_v1" };
  const saved = (changes: Partial<NonNullable<AttemptResult["outcome"]["evidence"]["state"]>>, outcome = exited(0)) =>
    result(outcome, { inputs: { state: portable }, evidence: { state: { ...state, ...changes } } });
  expect(saved({})).toMatchObject({ sessionId: "ses_2", sessionParams: { stateMode: "portable" }, resultJson: { state } });
  expect(saved({ last: null, saveMs: null })).toMatchObject({ sessionId: null, sessionParams: null });
  expect(saved({}, evicted).resultJson).toMatchObject(marker);
  const cut = saved({ saved: false, last: null, saveMs: null }, evicted);
  expect([cut.sessionId, cut.errorFamily]).toEqual(["ses_2", undefined]);
});

test("a run that took another one's Job over reports the fingerprint of that Job", () => {
  const job = (noted: ResumeFingerprint | null) =>
    ({ job: { name: "j", annotations: noted === null ? {} : fingerprintAnnotation(noted) } }) as unknown as Adoption;
  const noted = { podCwd: "/data/other", stateMode: "dedicated_pvc", bundleKey: "k1", mcpIdentity: "m1" };
  const inputs = { state: portable, bundle: { key: "k2" } as AttemptResult["attempt"]["inputs"]["bundle"] };
  expect(result(exited(0), { inputs, adopted: job(noted) }).sessionParams).toMatchObject({
    sessionId: "ses_2",
    cwd: "/data/work",
    podCwd: "/data/other",
    stateMode: "dedicated_pvc",
    promptBundleKey: "k1",
    mcpServerIdentity: "m1",
  });
  // Without one no session is safe to resume, except the one that was noted before.
  const none = { sessionId: null, sessionParams: null, sessionDisplayId: null };
  expect(result(exited(0), { inputs, adopted: job(null) })).toMatchObject(none);
  const previous = { sessionId: "ses_2", promptBundleKey: "k0" };
  const resumed = { inputs, adopted: job(null), sessionId: "ses_2", previous };
  expect(result(exited(0), resumed)).toMatchObject({ sessionId: "ses_2", sessionParams: previous });
});

test("the host keeps whether a session's saved states are signed: then one without a signature is nobody's", () => {
  const state = {
    restored: null,
    restoreMs: 1,
    saved: true,
    last: { generation: "1", at: "", bytes: 1, version: null },
    saveMs: 1,
    error: null,
  };
  const left = (changes: Changes) =>
    result(exited(0), { inputs: { state: portable }, ...changes, evidence: { state, ...changes.evidence } }).sessionParams ?? null;
  const next = (sessionParams: Record<string, unknown> | null) => mayBeUnsigned({ ...hostContext({}).ctx.runtime, sessionParams });
  expect(left({})).toMatchObject({ stateSigned: true });
  expect(next(left({}))).toBe(false);
  // The pod of an earlier version has signed nothing, whatever was noted before.
  const earlier = left({ evidence: { signed: false }, previous: { sessionId: "ses_2", stateSigned: true } });
  expect([earlier?.stateSigned, next(earlier)]).toEqual([undefined, true]);
  // Without a session nothing of an earlier version is missed.
  expect(next(null)).toBe(false);
});

test("a run that is detached reports what its earlier attempts used, and leaves the last one's to the run that takes it over", () => {
  const detached: OutcomeKind = { kind: "detached", reason: "upgrade" };
  const changes = { sessionId: "ses_1", previous: { sessionId: "ses_1" } };
  const alone = result(detached, changes);
  for (const key of ["usage", "usageBasis", "costUsd", "summary", "sessionId", "sessionParams"]) expect(alone).not.toHaveProperty(key);
  const second = result(detached, changes, [ended(exited(1))]);
  expect(second).toMatchObject({
    usage: { inputTokens: 10, cachedInputTokens: 5, outputTokens: 3 },
    usageBasis: "per_run",
    costUsd: 0.01,
    errorCode: "k8s_detached",
    resultJson: { conversationContinuation: "continue_conversation_v1" },
  });
  for (const key of ["summary", "sessionId"]) expect(second).not.toHaveProperty(key);
  // Another session than the one the host knows: it must learn of it, or the Job cannot be taken over.
  expect(result(detached, { ...changes, sessionId: "ses_2" })).toMatchObject({ sessionId: "ses_2" });
});

test("a run whose second attempt never started has used what the first one did, and does not claim that nothing was begun", () => {
  const last: OutcomeKind = { kind: "never-started", cause: "unschedulable", message: "no node", permanent: false };
  const second = result(last, { report: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: null } }, [ended(exited(1))]);
  expect(second).toMatchObject({ usage: { inputTokens: 10 }, errorFamily: "transient_upstream" });
  expect(second.executionRecovery).toBeUndefined();
  expect(result(last).executionRecovery).toEqual({ kind: "bootstrap", providerWorkStarted: false });
});
