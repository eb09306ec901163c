import type { Evidence, RunOutcome } from "@paperclip-k8s/engine";
import { describe, expect, test } from "vitest";
import type { CliFault, CliReport } from "../agent-cli/agent-cli.ts";
import { failureOf } from "./failure.ts";

const complete = { delivered: 10, expected: 10, complete: true, problem: null };
const calm = { output: complete, warnings: [] as string[], memory: { killed: false } };
const evidence = calm as unknown as Evidence;
const starved = {
  ...calm,
  warnings: ["a process of the run was killed for lack of memory (limit 1Gi); raise it"],
  memory: { killed: true },
};
const good: CliReport = {
  sessionId: "ses_1",
  text: "done",
  model: "a/b",
  inputTokens: 1,
  cachedInputTokens: 0,
  outputTokens: 2,
  costUsd: 0,
  errors: [],
  recovered: [],
  finished: true,
  events: 3,
};

function failure(outcome: object, options: { report?: Partial<CliReport>; fault?: CliFault; stderr?: string; output?: object } = {}) {
  const proof = options.output === undefined ? evidence : ({ ...calm, output: { ...complete, ...options.output } } as unknown as Evidence);
  return failureOf({
    outcome: { ...outcome, evidence: proof } as RunOutcome,
    report: { ...good, ...options.report },
    fault: options.fault ?? null,
    stderr: options.stderr ?? "",
    now: 0,
  });
}
const exited = (exitCode: number | null, signal: string | null = null) => ({ kind: "exited", exitCode, signal });

describe("what counts as success", () => {
  test("exit code 0 with a whole output and no complaint", () => expect(failure(exited(0))).toBeNull());
  test("exit code 1 after an error the CLI got over, with its turn finished", () => {
    expect(failure(exited(1), { report: { recovered: ["context overflow"] } })).toBeNull();
    expect(failure(exited(1), { report: { recovered: ["context overflow"], finished: false } })).not.toBeNull();
  });
  test.each([
    ["an error event", exited(0), { report: { errors: ["boom"] } }, "adapter_failed", /^boom/],
    ["missing bytes", exited(0), { output: { complete: false, delivered: 4 } }, "k8s_output_incomplete", /6 of 10 bytes are missing/],
    ["an unproved end", exited(0), { output: { complete: false, expected: null } }, "k8s_output_incomplete", /not proved/],
    [
      "no output at all",
      exited(0),
      { report: { sessionId: null, events: 0, text: "", outputTokens: 0 } },
      "adapter_failed",
      /without any output/,
    ],
    ["a model that said nothing", exited(0), { report: { text: "", outputTokens: 0 } }, "llm_api_error", /returned nothing/],
    ["a signal", exited(null, "SIGTERM"), {}, "adapter_failed", /SIGTERM/],
    ["exit code 1", exited(1), { stderr: '{"json":1}\nno such model\n' }, "adapter_failed", /^no such model \(exit code 1\)$/],
    [
      "a fault",
      exited(0),
      { fault: { kind: "quota", message: "slow down", retryAfterSec: 60 } as CliFault },
      "provider_quota",
      /^slow down/,
    ],
  ])("not %s", (_, outcome, options, code, message) => {
    expect(failure(outcome, options)).toMatchObject({ errorCode: code, errorMessage: expect.stringMatching(message) });
  });
});

test("the cause comes before what the CLI said", () => {
  const remedy = "raise resources.limits.memory, now 1Gi";
  const killed = { kind: "killed", by: "oom", message: "out of memory: OOMKilled, limit 1Gi", remedy, exitCode: 137 };
  expect(failure(killed, { report: { errors: ["check your credentials"] } })).toMatchObject({
    errorCode: "k8s_oom_killed",
    errorMessage:
      "Out of memory: OOMKilled, limit 1Gi (exit code 137); raise resources.limits.memory, now 1Gi; the CLI said: check your credentials",
  });
});

test("a runner that failed, and a takeover nobody confirmed, have codes of their own", () => {
  const message = "the runner failed: TypeError";
  expect(failure({ kind: "killed", by: "runner", message, remedy: null, exitCode: null })).toEqual({
    errorCode: "k8s_runner_failed",
    errorMessage: "The runner failed: TypeError",
  });
  const unconfirmed = {
    kind: "never-started",
    cause: "takeover-failed",
    message: "Job j of run r goes on, but could not be taken over: 503",
    permanent: false,
  };
  expect(failure(unconfirmed)).toEqual({
    errorCode: "k8s_takeover_failed",
    errorMessage: `The agent did not start: ${unconfirmed.message}`,
  });
});

test("a child killed for lack of memory: no failure of a run that succeeded, and the first cause of one that failed", () => {
  const ending = (exitCode: number, options: { errors?: string[]; fault?: CliFault } = {}) => ({
    outcome: { ...exited(exitCode), evidence: starved as unknown as Evidence } as RunOutcome,
    report: { ...good, errors: options.errors ?? [] },
    fault: options.fault ?? null,
    stderr: "",
    now: 0,
  });
  expect(failureOf(ending(0))).toBeNull();
  expect(failureOf(ending(1, { errors: ["check your credentials"] }))).toMatchObject({
    errorCode: "k8s_oom_killed",
    errorMessage: "A process of the run was killed for lack of memory (limit 1Gi); raise it; then: check your credentials (exit code 1)",
  });
  const fault: CliFault = { kind: "quota", message: "slow down", retryAfterSec: 60 };
  expect(failureOf(ending(1, { fault }))).toMatchObject({ errorCode: "provider_quota", errorMessage: expect.stringMatching(/^A process/) });
});

test("how long a provider asks to wait reaches the host", () => {
  const fault: CliFault = { kind: "quota", message: "slow down", retryAfterSec: 3600 };
  expect(failure(exited(1), { fault })).toMatchObject({ errorFamily: "provider_quota", retryNotBefore: "1970-01-01T01:00:00.000Z" });
});

test("what no retry can mend is the operator's", () => {
  const failed = { kind: "never-started", cause: "image", message: "InvalidImageName" };
  expect(failure({ ...failed, permanent: true })?.errorCode).toBe("configuration_incomplete");
  expect(failure({ ...failed, permanent: false })?.errorCode).toBe("k8s_pod_schedule_failed");
});

test("an agent's claim: what to set when it is missing, a failed create whatever its cause", () => {
  const failed = { kind: "never-started", message: "m", permanent: true };
  expect(failure({ ...failed, cause: "claim-missing" })).toMatchObject({
    errorCode: "configuration_incomplete",
    errorMessage: expect.stringContaining("Set agentDbStorageClass"),
  });
  expect(failure({ ...failed, cause: "claim-create-failed" })?.errorCode).toBe("k8s_job_create_failed");
  expect(failure({ ...failed, cause: "claim-unusable", permanent: false })?.errorCode).toBe("k8s_volume_unusable");
});

test("a missing runtime is told as what it is", () => {
  const failed = { kind: "never-started", cause: "start-error", permanent: true };
  const message = 'the container could not be started: exec: "node": executable file not found in $PATH';
  expect(failure({ ...failed, message })?.errorMessage).toMatch(/Node ≥ 18 must be in the image/);
  expect(failure({ ...failed, message: 'cannot run "nodejs-cli"' })?.errorMessage).not.toContain("Node ≥ 18");
});

test("a CLI's own codes, a time to come back, and what a session does not survive", () => {
  const fault = (more: Partial<CliFault>): CliFault => ({ kind: "other", message: "m", retryAfterSec: null, ...more });
  expect(failure(exited(1), { fault: fault({ kind: "auth", code: "cli_auth" }) })).toMatchObject({ errorCode: "cli_auth" });
  expect(failure(exited(1), { fault: fault({ kind: "quota", retryAt: 5000 }) })).toMatchObject({
    retryNotBefore: "1970-01-01T00:00:05.000Z",
  });
  expect(failure(exited(1), { fault: fault({ kind: "refusal" }) })).toMatchObject({ errorFamily: "model_refusal" });
  expect(failure(exited(1), { fault: fault({ kind: "spoilt-session" }) })).toMatchObject({ clearSession: true });
});

test("a cut stream: what ended the CLI is the cause, where it is known", () => {
  const fault: CliFault = { kind: "truncated", code: "cli_truncated", message: "no result", retryAfterSec: null };
  expect(failure(exited(0), { fault })).toMatchObject({ errorCode: "cli_truncated" });
  const ended = { ...exited(0), exitCode: null, signal: "SIGSEGV" };
  expect(failure(ended, { fault })).toMatchObject({ errorMessage: expect.stringMatching(/^The CLI was ended by SIGSEGV$/) });
});

test("our own inference about the stream is not put into the CLI's mouth", () => {
  const deleted = { kind: "deleted", what: "job", message: "Job x was deleted", exitCode: null };
  expect(failure(deleted, { fault: { kind: "other", message: "stopped midway", retryAfterSec: null } })?.errorMessage).toBe(
    "Job x was deleted",
  );
  expect(failure(deleted, { fault: { kind: "quota", message: "slow down", retryAfterSec: null } })?.errorMessage).toBe(
    "Job x was deleted; the CLI said: slow down",
  );
});

test("every other end has a code of its own and a message", () => {
  const codes = [
    { kind: "cancelled", reason: "by an operator", exitCode: 143, stopped: true },
    { kind: "timed-out", by: "runner", exitCode: 143 },
    { kind: "killed", by: "eviction", message: "m", remedy: null, exitCode: null },
    { kind: "killed", by: "preemption", message: "m", remedy: null, exitCode: null },
    { kind: "killed", by: "node-loss", message: "m", remedy: null, exitCode: null },
    { kind: "deleted", what: "job", message: "m", remedy: null, exitCode: null },
    { kind: "superseded", byRun: "r" },
    { kind: "lost-sight", message: "m" },
  ].map((outcome) => {
    const found = failure(outcome);
    expect(found?.errorMessage).toBeTruthy();
    return found?.errorCode;
  });
  expect(new Set(codes).size).toBe(codes.length);
});
