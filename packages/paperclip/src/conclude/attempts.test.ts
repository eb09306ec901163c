import { expect, test } from "vitest";
import type { CliFault } from "../agent-cli/fault.ts";
import { exampleEvidence, exampleReport, exampleResult, exited } from "../testing/example-attempt.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { costOf, mayHaveStartedWork, reported } from "./attempts.ts";
import { conclude } from "./result.ts";

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

test("of an output that others have written to nothing is taken: it is a failure without session, cost or answer", () => {
  const parser = { push: () => [], report: () => exampleReport, fault: () => null };
  const evidence = { ...exampleEvidence, output: { ...exampleEvidence.output, complete: false, forged: true } };
  const said = reported(exampleCli, { parser, stderrTail: "" }, { evidence });
  const { result } = conclude({ earlier: [], last: exampleResult(exited(0), { ...said, evidence }) });
  expect(result).toMatchObject({
    exitCode: 1,
    errorCode: "k8s_output_forged",
    sessionId: null,
    sessionParams: null,
    summary: expect.stringMatching(/^Another program/),
    costUsd: null,
  });
  expect(result.usage).toEqual({ inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 });
  expect(reported(exampleCli, { parser, stderrTail: "" }, { evidence: exampleEvidence }).report).toBe(exampleReport);
});
