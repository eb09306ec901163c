import { expect, test } from "vitest";
import type { CliFault } from "../agent-cli/agent-cli.ts";
import { exampleResult, exited } from "../testing/example-attempt.ts";
import { costOf, mayHaveStartedWork } from "./attempts.ts";

const detached = { kind: "detached", reason: "upgrade" } as const;

test("all attempts are paid for", () => {
  const one = exampleResult(exited(1), { report: { costUsd: 0.5 } });
  const none = exampleResult(exited(1), { report: { inputTokens: 1, cachedInputTokens: 0, outputTokens: 0, costUsd: null } });
  const usage = { inputTokens: 21, cachedInputTokens: 10, outputTokens: 6 };
  expect(costOf({ earlier: [one, none], last: one })).toEqual({ usage, costUsd: 1 });
  expect(costOf({ earlier: [], last: none })).toMatchObject({ costUsd: null });
});

test("what goes on elsewhere is paid for there, and only that", () => {
  const last = exampleResult(detached);
  expect(costOf({ earlier: [], last })).toBeNull();
  const usage = { inputTokens: 10, cachedInputTokens: 5, outputTokens: 3 };
  expect(costOf({ earlier: [exampleResult(exited(1))], last })).toEqual({ usage, costUsd: 0.01 });
});

test("only a CLI that never ran, or gave up on its arguments, has certainly not called the provider", () => {
  const nothing = { inputTokens: 0, outputTokens: 0, text: "" };
  const unknown: CliFault = { kind: "unknown-session", message: "m", retryAfterSec: null };
  const started = (...result: Parameters<typeof exampleResult>) => mayHaveStartedWork(exampleResult(...result));
  expect(started(exited(1), { report: nothing })).toBe(true);
  expect(started(exited(1), { fault: unknown })).toBe(true);
  expect(started(exited(1), { fault: unknown, report: nothing })).toBe(false);
  expect(started(exited(1), { fault: { ...unknown, kind: "other", unknownOption: "--x" }, report: nothing })).toBe(false);
  expect(started({ kind: "never-started", cause: "image", message: "", permanent: false })).toBe(false);
  expect(started(detached)).toBe(true);
  expect(started(detached, { evidence: { jobUid: null } })).toBe(false);
});
