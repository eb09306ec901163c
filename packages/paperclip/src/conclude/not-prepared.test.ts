import { ApiError } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import { issueOf } from "../host/issue.ts";
import { UnusableVolume } from "../host/unusable-volume.ts";
import { ConfigError } from "../settings/config-error.ts";
import { exampleResult, exited } from "../testing/example-attempt.ts";
import { hostContext } from "../testing/host-context.ts";
import { notPrepared } from "./not-prepared.ts";

const NOT_STARTED = { kind: "bootstrap", providerWorkStarted: false };
const MARKER = { conversationContinuation: "continue_conversation_v1" };
const issue = (context: Record<string, unknown> = {}, change = {}) => issueOf(hostContext({ context, change }).ctx);
const worked = [exampleResult(exited(1))];

test("a refusal names no user of a home folder", () => {
  const { result } = notPrepared(new ConfigError("kubeconfig", "/home/alice/.kube/config is not allowed"), issue());
  for (const text of [result.errorMessage, result.summary]) expect(text).toContain("/home/a****/.kube/config is not allowed");
});

test("a refused setting is for a person: the field by its label, the page, and how to go on", () => {
  const { result, way } = notPrepared(new ConfigError("resources.limits.memory", 'must be an amount, not "lots"', "Memory limit"), issue());
  expect(way).toBe("person");
  expect(result).toMatchObject({
    errorCode: "configuration_incomplete",
    errorMessage: 'Memory limit: must be an amount, not "lots"',
    executionRecovery: NOT_STARTED,
    resultJson: {
      outcome: "not-prepared",
      cause: "configuration_incomplete",
      configurationIncomplete: { fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) },
    },
  });
  expect(result.summary).toBe(
    'The agent was not started: Memory limit: must be an amount, not "lots". Correct it on the agent\'s Runtime page. Then comment here or set this issue to todo.',
  );
  expect(result).not.toHaveProperty("errorFamily");
});

test("another cause is another action at the host, the same one is not", () => {
  const print = (message: string) => notPrepared(new ConfigError("image", message), issue()).result.resultJson?.configurationIncomplete;
  expect(print("a")).toEqual(print("a"));
  expect(print("a")).not.toEqual(print("b"));
});

test("what no form has is not looked for there", () => {
  expect(notPrepared(new ConfigError("agent.id", "cannot be a label"), issue()).result).toMatchObject({
    resultJson: { cause: "k8s_agent_id_invalid" },
    summary: expect.not.stringContaining("Runtime page"),
  });
});

test("what may pass is tried again; what earlier attempts used is reported, and only an untouched run may simply run again", () => {
  const error = new UnusableVolume("the volume does not answer");
  const first = notPrepared(error, issue());
  expect(first).toMatchObject({ way: "retry", result: { errorCode: "k8s_volume_unusable", executionRecovery: NOT_STARTED } });
  expect(first.result).not.toHaveProperty("usage");
  const second = notPrepared(error, issue(), worked).result;
  expect(second).toMatchObject({ errorFamily: "transient_upstream", usage: { inputTokens: 10 }, costUsd: 0.01, resultJson: MARKER });
  expect(second.executionRecovery).toBeUndefined();
});

test("the host's last retry leaves it to a person, where the host would hold the issue; another host goes on trying", () => {
  const error = new UnusableVolume("the volume does not answer");
  const last = { scheduledRetryAttempt: 2 };
  expect(notPrepared(error, issue(last))).toMatchObject({
    way: "person",
    result: {
      errorCode: "configuration_incomplete",
      executionRecovery: NOT_STARTED,
      summary: "The agent was not started: the volume does not answer. Comment here or set this issue to todo to run it again.",
      resultJson: { cause: "k8s_volume_unusable" },
    },
  });
  expect(notPrepared(error, issue(last)).result).not.toHaveProperty("errorFamily");
  expect(notPrepared(error, issue({ scheduledRetryAttempt: 1 })).way).toBe("retry");
  expect(notPrepared(error, issue(last, { onCancellationReady: undefined })).way).toBe("retry");
});

test("an error of the cluster passes, a kubeconfig and an error of our own do not", () => {
  expect(notPrepared(new ApiError("api_unreachable", "m"), issue()).result.errorCode).toBe("k8s_job_create_failed");
  expect(notPrepared(new ApiError("api_config", "no such file"), issue())).toMatchObject({
    way: "person",
    result: { errorMessage: "Kubeconfig: no such file" },
  });
  expect(notPrepared(new Error("a\0b\u001b[2Jc"), issue())).toMatchObject({
    way: "person",
    result: { errorMessage: "abc", resultJson: { cause: "adapter_failed" } },
  });
});

test("a cancel meanwhile is not acknowledged: an earlier run's Job may be at work", () => {
  expect(notPrepared(new UnusableVolume("away"), issue()).ifCancelled).toBeNull();
});
