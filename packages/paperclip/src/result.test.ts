import type { Evidence, RunOutcome } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import type { CliReport } from "./agent-cli.ts";
import { buildResult } from "./result.ts";
import { sessionCodec } from "./session.ts";
import type { Turn } from "./turn.ts";

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
};
const exited = (exitCode: number): RunOutcome => ({ kind: "exited", exitCode, signal: null, evidence: evidence as unknown as Evidence });

function turn(changes: { biller?: string | null; model?: string | null; previous?: Record<string, unknown> } = {}): Turn {
  return {
    cli: { billerOf: () => changes.biller ?? null },
    config: { model: changes.model === undefined ? "acme/m-1" : changes.model, cwd: null },
    ctx: {
      context: { paperclipWorkspace: { workspaceId: "w-1", repoUrl: "https://example.com/r.git", repoRef: "main" } },
      runtime: { sessionId: null, sessionParams: changes.previous ?? null, sessionDisplayId: null, taskKey: null },
    },
    env: { secret: {} },
    sessionId: null,
    stateDir: "/data/state",
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
    provider: "acme",
    biller: "acme",
    billingType: "unknown",
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

test("a session that went with its pod is not promised to the next run", () => {
  expect(buildResult({ ...turn(), stateDir: null }, ending(exited(0)))).toMatchObject({ sessionId: null, sessionParams: null });
});

test("who bills: the environment, else the provider, else unknown", () => {
  expect(buildResult(turn({ biller: "openrouter" }), ending(exited(0))).biller).toBe("openrouter");
  expect(buildResult(turn({ model: "bare" }), ending(exited(0)))).toMatchObject({ provider: null, biller: "unknown" });
});
