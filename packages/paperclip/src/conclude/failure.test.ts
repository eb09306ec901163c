import type { Evidence } from "@paperclip-k8s/engine";
import { describe, expect, test } from "vitest";
import type { CliReport } from "../agent-cli/agent-cli.ts";
import type { CliFault } from "../agent-cli/fault.ts";
import { DEFAULT_POLICY } from "../policy/policy.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { exampleAttempt, exampleEvidence, exampleInputs, exampleResult, exited, type OutcomeKind } from "../testing/example-attempt.ts";
import { failureOf } from "./failure.ts";

interface Options {
  readonly report?: Partial<CliReport>;
  readonly fault?: CliFault;
  readonly stderr?: string;
  readonly output?: Partial<Evidence["output"]>;
  readonly evidence?: Partial<Evidence>;
}

function failure(outcome: object, { report, fault = undefined, stderr = "", output, evidence }: Options = {}) {
  const proof = { ...evidence, output: { ...exampleEvidence.output, ...output } };
  return failureOf(exampleResult(outcome as OutcomeKind, { report, fault: fault ?? null, stderr, evidence: proof }));
}

describe("what counts as success", () => {
  test("exit code 0 with a whole output and no complaint", () => expect(failure(exited(0))).toBeNull());
  test("exit code 1 after an error the CLI recovered from, with its turn finished", () => {
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
    ["a model that returned nothing", exited(0), { report: { text: "", outputTokens: 0 } }, "llm_api_error", /returned nothing/],
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

describe("a container whose runner did not start", () => {
  const terminated = (message: string | null) =>
    ({ kind: "terminated", exitCode: 1, signal: null, reason: "Error", message, startedAt: null, finishedAt: null }) as const;
  const nothing = { events: 0, sessionId: null, text: "", outputTokens: 0, finished: false };
  const unstarted = (message: string | null, report: Partial<CliReport> = nothing) =>
    failure(exited(1), {
      report,
      output: { complete: false, delivered: 0, expected: null },
      evidence: { proof: "container-state", container: terminated(message), timings: { ...exampleEvidence.timings, started: null } },
    });

  test("is not blamed on the CLI, and its last words are in the message", () => {
    const message = "node:internal/modules/cjs/loader:1423\n  throw err;\nError: Cannot find module '/otel.js'\n    at x\nNode.js v24";
    expect(unstarted(message)).toEqual({
      errorCode: "k8s_runner_failed",
      errorMessage:
        "The runner did not start, so neither did the CLI (exit code 1): Error: Cannot find module '/otel.js'. Look at the image, and at variables such as NODE_OPTIONS",
    });
    expect(unstarted(null)?.errorMessage).toContain("The runner did not start, so neither did the CLI (exit code 1). Look at");
  });

  test("unless something of the CLI was seen", () => expect(unstarted("Error: x", { events: 1 })?.errorCode).toBe("adapter_failed"));
});

describe("what is said of missing output", () => {
  const readOnly = { complete: false, delivered: 4, problem: "EROFS: read-only file system, write" };
  test("a volume that is read-only is not the image's trouble", () => {
    expect(failure(exited(1), { stderr: "it broke", output: readOnly })?.errorMessage).not.toContain("readOnlyRootFilesystem");
    expect(failure(exited(1), { stderr: "EROFS: read-only file system, open '/opt/x'" })?.errorMessage).toContain("readOnlyRootFilesystem");
  });
  test("more than was counted is not a negative number", () =>
    expect(failure(exited(0), { output: { complete: false, delivered: 1267, expected: 1 } })?.errorMessage).toContain(
      "1266 bytes more than the run had counted",
    ));
});

describe("after the CLI has reported success", () => {
  const report = { succeeded: true };
  test.each([
    [
      "an exit code of its own",
      exited(3),
      { stderr: "out of disk\n" },
      "The CLI failed after it had reported success (exit code 3): out of disk",
    ],
    ["nothing on stderr", exited(3), {}, "The CLI failed after it had reported success (exit code 3)"],
    ["a signal nobody here sent", exited(null, "SIGKILL"), {}, "The CLI was ended by SIGKILL after it had reported success"],
  ])("%s is a failure", (_, outcome, options, errorMessage) => {
    expect(failure(outcome, { report, ...options })).toEqual({ errorCode: "adapter_failed", errorMessage });
  });
  test("what the runner ended after the final line is none", () => {
    for (const end of ["endRecord", "termination"] as const) {
      const evidence = { [end]: { cause: "final-line" } } as unknown as Partial<Evidence>;
      expect(failure(exited(null, "SIGTERM"), { report, evidence })).toBeNull();
      expect(failure(exited(143), { report, evidence })).toBeNull();
      expect(failure(exited(null, "SIGTERM"), { evidence })).not.toBeNull();
    }
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

test.each([
  ["Error: EROFS: read-only file system, open '/opt/cli/cache'", exited(1)],
  ["bash: /usr/local/x: Read-only file system", exited(3)],
])("a CLI that fails because it wrote to the image's folders: %s", (stderr, how) => {
  expect(failure(how, { stderr })?.errorMessage).toMatch(/force\.readOnlyRootFilesystem: false in the policy allows it$/);
  expect(failure(how, { stderr: "other trouble" })?.errorMessage).not.toContain("readOnlyRootFilesystem");
  expect(failure(exited(0), { stderr })).toBeNull();
});

test("too much output has a code of its own, with what raises the limit", () => {
  const message = "the CLI was ended: it wrote more than 5 bytes of output; the rest was not kept";
  const remedy = "raise limits.outputBytes in the policy";
  expect(failure({ kind: "killed", by: "output-limit", message, remedy, exitCode: 0 })).toEqual({
    errorCode: "output_limit_exceeded",
    errorMessage:
      "The CLI was ended: it wrote more than 5 bytes of output; the rest was not kept (exit code 0); raise limits.outputBytes in the policy",
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

test("a cancel that is not confirmed names whose agent may be at work", () => {
  const cancelled = { kind: "cancelled", reason: "r", exitCode: null, stopped: false };
  expect(failure(cancelled)?.errorMessage).toBe("Cancelled: r; the pod has not confirmed that it stopped");
  expect(failure(cancelled, { evidence: { jobUid: null } })?.errorMessage).toContain("the agent of an earlier run has not");
});

test("a child killed for lack of memory: no failure of a run that succeeded, and the first cause of one that failed", () => {
  const evidence = {
    warnings: ["a process of the run was killed for lack of memory (limit 1Gi); raise it"],
    memory: { ...exampleEvidence.memory, killed: true },
  };
  expect(failure(exited(0), { evidence })).toBeNull();
  expect(failure(exited(1), { evidence, report: { errors: ["check your credentials"] } })).toMatchObject({
    errorCode: "k8s_oom_killed",
    errorMessage: "A process of the run was killed for lack of memory (limit 1Gi); raise it; then: check your credentials (exit code 1)",
  });
  const fault: CliFault = { kind: "quota", message: "slow down", retryAfterSec: 60 };
  expect(failure(exited(1), { evidence, fault })).toMatchObject({
    errorCode: "provider_quota",
    errorMessage: expect.stringMatching(/^A process/),
  });
});

test("how long a provider asks to wait reaches the host", () => {
  const fault: CliFault = { kind: "quota", message: "slow down", retryAfterSec: 3600 };
  expect(failure(exited(1), { fault })).toMatchObject({ errorFamily: "provider_quota", retryNotBefore: "1970-01-01T01:00:00.000Z" });
});

test("what no retry can fix is the operator's", () => {
  const failed = { kind: "never-started", cause: "image", message: "InvalidImageName" };
  expect(failure({ ...failed, permanent: true })?.errorCode).toBe("configuration_incomplete");
  expect(failure({ ...failed, permanent: false })?.errorCode).toBe("k8s_pod_schedule_failed");
});

test("an agent's claim: what to set when it is missing, a failed create whatever its cause", () => {
  const failed = { kind: "never-started", message: "m", permanent: true };
  expect(failure({ ...failed, cause: "claim-missing" })).toMatchObject({
    errorCode: "configuration_incomplete",
    errorMessage: expect.stringContaining("Set Session storage class (agentDbStorageClass)"),
  });
  expect(failure({ ...failed, cause: "claim-create-failed" })?.errorCode).toBe("k8s_job_create_failed");
  expect(failure({ ...failed, cause: "claim-unusable", permanent: false })?.errorCode).toBe("k8s_volume_unusable");
});

test("a guard that could not look has a code of its own", () => {
  const failed = { kind: "never-started", cause: "jobs-not-listed", message: "m", permanent: false };
  expect(failure(failed)?.errorCode).toBe("k8s_concurrency_guard_unreachable");
});

describe("an image that lacks something: it is named, and what to do follows from policy and settings", () => {
  const image = "jdk:25";
  const message = 'the container could not be started: exec: "node": executable file not found in $PATH';
  const advised = (
    cause: string,
    { tools = "auto", command = null as string | null, offered = null as string | null, used = false } = {},
  ) => {
    const config = { env: {}, tools, command } as unknown as AgentConfig;
    const policy = { ...DEFAULT_POLICY, tools: { image: offered, mount: "copy" as const } };
    const inputs = exampleInputs({ config, policy, inherited: { image, env: { literals: {}, references: [] } } as never });
    const attempt = exampleAttempt({ inputs, tools: used ? "asked-for" : null });
    const outcome = { kind: "never-started", cause, message, permanent: true } as OutcomeKind;
    const found = failureOf(exampleResult(outcome, { attempt }));
    expect(found?.errorCode).toBe("configuration_incomplete");
    return found?.errorMessage;
  };

  test("no tools are offered: the policy's lines", () => {
    expect(advised("runtime-missing")).toMatch(
      /Image jdk:25 has no Node: use one with Node ≥ 18.*`tools: { image: <your tools image>, mount: copy }`/,
    );
    expect(advised("runtime-too-old")).toMatch(/Image jdk:25 has a Node that is too old/);
    expect(advised("cli-missing")).toMatch(/Image jdk:25 does not have the agent's CLI.*`tools: /);
  });
  test("tools are offered, and the agent's settings do without", () => {
    expect(advised("runtime-missing", { tools: "never", offered: "tools:1" })).toMatch(
      /set Agent tools \(tools\) to auto, to have it from tools image tools:1$/,
    );
  });
  test("a program of the agent's own settings, and tools that have not got it", () => {
    expect(advised("cli-missing", { command: "/x/cli", offered: "tools:1" })).toMatch(
      /The setting Command \(command\) names that program$/,
    );
    expect(advised("cli-missing", { offered: "tools:1", used: true })).toMatch(/It was looked for in tools image tools:1$/);
  });
  test("image volumes that do not work are named, and what works", () => {
    const policy = { ...DEFAULT_POLICY, tools: { image: "tools:1", mount: "image-volume" as const } };
    const attempt = exampleAttempt({ inputs: exampleInputs({ policy }), tools: "asked-for" });
    const failed = (text: string) => ({ kind: "never-started", cause: "start-error", message: text, permanent: true }) as OutcomeKind;
    const advised = (text: string) => failureOf(exampleResult(failed(text), { attempt }))?.errorMessage;
    expect(advised('exec: "/opt/agent-tools/bin/node": permission denied')).toContain("`tools: { mount: copy }`");
    expect(advised("spec.volumes[3]: Required value: must specify a volume type")).toContain("`tools: { mount: copy }`");
    expect(advised("no space left on device")).not.toContain("mount: copy");
  });
  test("another reason not to start has no such advice", () => {
    expect(failure({ kind: "never-started", cause: "start-error", message, permanent: true })?.errorMessage).toMatch(/in \$PATH$/);
  });
});

test("a CLI's own codes, a time to come back, and what a session does not survive", () => {
  const fault = (more: Partial<CliFault>): CliFault => ({ kind: "other", message: "m", retryAfterSec: null, ...more });
  expect(failure(exited(1), { fault: fault({ kind: "auth", code: "cli_auth" }) })).toMatchObject({ errorCode: "cli_auth" });
  expect(failure(exited(1), { fault: fault({ kind: "quota", retryAt: 5000 }) })).toMatchObject({
    retryNotBefore: "1970-01-01T00:00:05.000Z",
  });
  expect(failure(exited(1), { fault: fault({ kind: "refusal" }) })).toMatchObject({ errorFamily: "model_refusal" });
  expect(failure(exited(1), { fault: fault({ kind: "corrupted-session" }) })).toMatchObject({ clearSession: true });
});

test("a cut stream: what ended the CLI is the cause, where it is known", () => {
  const fault: CliFault = { kind: "truncated", code: "cli_truncated", message: "no result", retryAfterSec: null };
  expect(failure(exited(0), { fault })).toMatchObject({ errorCode: "cli_truncated" });
  const ended = exited(null, "SIGSEGV");
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
    { kind: "end-unknown", message: "m" },
  ].map((outcome) => {
    const found = failure(outcome);
    expect(found?.errorMessage).toBeTruthy();
    return found?.errorCode;
  });
  expect(new Set(codes).size).toBe(codes.length);
});
