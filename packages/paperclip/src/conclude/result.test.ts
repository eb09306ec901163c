import type { Evidence, RunOutcome } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import type { CliReport, RunEnvironment } from "../agent-cli/agent-cli.ts";
import type { Turn } from "../prepare/attempt.ts";
import { sessionCodec } from "../prepare/session.ts";
import { hostContext } from "../testing/host-context.ts";
import { buildResult } from "./result.ts";

const report: CliReport = {
  sessionId: "ses_2",
  text: "done",
  model: null,
  inputTokens: 10,
  cachedInputTokens: 5,
  outputTokens: 3,
  costUsd: 0.01,
  errors: [],
  recovered: [],
  finished: true,
  events: 4,
};
const output = { delivered: 1, expected: 1, complete: true, problem: null };
const evidence = {
  namespace: "agents",
  jobName: "job",
  podName: "pod",
  node: "n",
  proof: "end-record",
  output,
  timings: { started: 1 },
  endRecord: null,
  termination: null,
  warnings: [] as string[],
  memory: { oomKills: null, limit: "8Gi", killed: false },
  state: null,
};
const exited = (exitCode: number): RunOutcome => ({ kind: "exited", exitCode, signal: null, evidence: evidence as unknown as Evidence });

const workspace = { workspaceId: "w-1", repoUrl: "https://example.com/r.git", repoRef: "main" };

function turn(changes: { model?: string | null; previous?: Record<string, unknown> } = {}): Turn {
  return {
    cli: { billing: ({ names }: RunEnvironment, model: string | null) => ({ provider: model, biller: [...names].join(), type: "api" }) },
    inherited: { env: { literals: { A: "" }, references: [{ name: "B" }] } },
    config: { model: changes.model === undefined ? "acme/m-1" : changes.model, cwd: null, env: { C: "" } },
    ctx: hostContext({ context: { paperclipWorkspace: workspace }, session: changes.previous ?? null }).ctx,
    env: { secret: {} },
    sessionId: null,
    state: { mode: "own" },
    cwd: "/data/work",
  } as unknown as Turn;
}
const ending = (outcome: RunOutcome, changes: Partial<CliReport> = {}) => ({
  outcome,
  report: { ...report, ...changes },
  fault: null,
  stderr: "",
  now: 0,
});

test("a good run: usage, cost, provider, session", () => {
  expect(buildResult(turn(), ending(exited(0)))).toMatchObject({
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

test("every key of the session params survives the codec; unknown ones of the same session stay", () => {
  const previous = { sessionId: "ses_2", fromALaterVersion: { a: 1 } };
  const { sessionParams } = buildResult(turn({ previous }), ending(exited(0)));
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
  const failed = buildResult(turn(), ending(exited(0), { errors: ["boom"] }));
  expect(failed).toMatchObject({ exitCode: 1, errorMessage: expect.stringContaining("boom"), sessionId: "ses_2" });
  const long = buildResult(turn(), ending(exited(0), { text: "x".repeat(1_000_000) }));
  expect(JSON.stringify(long).length).toBeLessThan(16_384);
});

test("what a success should be told of stands in its result", () => {
  const starved = { ...evidence, warnings: ["a process was killed"], memory: { oomKills: 1, limit: "8Gi", killed: true } };
  const outcome = { kind: "exited", exitCode: 0, signal: null, evidence: starved as unknown as Evidence } as const;
  const { resultJson, errorCode } = buildResult(turn(), ending(outcome));
  expect(errorCode).toBeUndefined();
  expect(resultJson).toMatchObject({ warnings: ["a process was killed"], oomKills: 1, memoryLimit: "8Gi" });
  expect(buildResult(turn(), ending(exited(0))).resultJson).not.toHaveProperty("warnings");
});

test("a session that went with its pod is not promised to the next run", () => {
  expect(buildResult({ ...turn(), state: { mode: "ephemeral" } }, ending(exited(0)))).toMatchObject({
    sessionId: null,
    sessionParams: null,
  });
});

test("who bills is told from the pod's environment, references too, and the model that answered", () => {
  expect(buildResult(turn(), ending(exited(0), { model: "m-2" }))).toMatchObject({ provider: "m-2", biller: "A,C,B" });
});

test("a CLI whose own word is success has succeeded, however its process was ended", () => {
  const ended = { ...exited(143), exitCode: null, signal: "SIGTERM" } as RunOutcome;
  const result = buildResult(turn(), ending(ended, { succeeded: true, details: { num_turns: 3 } }));
  expect(result).toMatchObject({ exitCode: 0, signal: null, resultJson: { num_turns: 3 } });
  expect(result.errorMessage).toBeUndefined();
  expect(buildResult(turn(), ending(ended))).toMatchObject({ signal: "SIGTERM", errorMessage: expect.stringContaining("SIGTERM") });
});

test("a session of which nothing was saved is not resumed; one that may have been is, but the host is promised nothing", () => {
  const ended = (state: unknown, changes: Partial<RunOutcome> = {}) => {
    const outcome = { ...exited(0), ...changes, evidence: { ...evidence, state } } as unknown as RunOutcome;
    return buildResult({ ...turn(), state: { mode: "portable" } } as Turn, ending(outcome));
  };
  const point = { generation: "g", at: "", bytes: 1, version: null };
  const state = { restored: null, restoreMs: 1, saved: true, last: point, saveMs: 1, error: null };
  const evicted = { kind: "killed", by: "eviction", message: "m", remedy: null, exitCode: null } as Partial<RunOutcome>;
  const marker = { conversationContinuation: "continue_conversation_v1" };
  expect(ended(state)).toMatchObject({ sessionId: "ses_2", sessionParams: { stateMode: "portable" }, resultJson: { state } });
  expect(ended({ ...state, last: null })).toMatchObject({ sessionId: null, sessionParams: null });
  expect(ended(state, evicted).resultJson).toMatchObject(marker);
  const cut = ended({ ...state, saved: false, last: null, saveMs: null }, evicted);
  expect(cut.sessionId).toBe("ses_2");
  expect(cut.resultJson).not.toMatchObject(marker);
});

test("a run that went on with another one's Job reports the ground of that Job", () => {
  const own = { ...turn(), sessionId: null, bundle: { key: "k2" }, state: { mode: "portable" } } as unknown as Turn;
  const job = { podCwd: "/data/other", stateMode: "dedicated_pvc", bundleKey: "k1", mcpIdentity: "m1" };
  expect(buildResult(own, ending(exited(0)), job).sessionParams).toMatchObject({
    sessionId: "ses_2",
    cwd: "/data/work",
    podCwd: "/data/other",
    stateMode: "dedicated_pvc",
    promptBundleKey: "k1",
    mcpServerIdentity: "m1",
  });
  // A Job that does not say: no session rather than one on the wrong ground, unless it is the one that was noted before.
  expect(buildResult(own, ending(exited(0)), null)).toMatchObject({ sessionId: null, sessionParams: null, sessionDisplayId: null });
  const previous = { sessionId: "ses_2", promptBundleKey: "k0" };
  const resumed = { ...own, sessionId: "ses_2", ctx: turn({ previous }).ctx };
  expect(buildResult(resumed, ending(exited(0)), null)).toMatchObject({ sessionId: "ses_2", sessionParams: previous });
});
