import type { Evidence, RunOutcome } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import type { CliFault, CliReport } from "../agent-cli/agent-cli.ts";
import type { Turn } from "../prepare/attempt.ts";
import type { Ending } from "./failure.ts";
import { remedyFor, withEarlier } from "./next-attempt.ts";

const outcome = (kind: string) => ({ kind, exitCode: 1, signal: null, evidence: { state: null } as Evidence }) as RunOutcome;
const ending = (fault: Partial<CliFault> | null, changes: Partial<Ending> = {}): Ending => ({
  outcome: outcome("exited"),
  report: { inputTokens: 1, cachedInputTokens: 2, outputTokens: 3, costUsd: 0.5 } as CliReport,
  fault: fault === null ? null : { kind: "other", message: "m", retryAfterSec: null, ...fault },
  stderr: "",
  now: 0,
  ...changes,
});
const turn = (changes: Partial<Turn> = {}) => ({ sessionId: "s-1", attempt: 1, without: [], ...changes }) as unknown as Turn;

test.each<[Partial<CliFault>, RegExp]>([
  [{ kind: "unknown-session" }, /session s-1 is not known/],
  [{ kind: "spoilt-session" }, /session s-1 cannot go on \(m\)/],
])("%j: a fresh session, once", (fault, note) => {
  expect(remedyFor(turn(), ending(fault))).toEqual({
    note: expect.stringMatching(note),
    start: { sessionId: null, attempt: 2, without: [] },
  });
  expect(remedyFor(turn({ sessionId: null }), ending(fault))).toBeNull();
});

test("an option this CLI does not know: the same start without it, once", () => {
  const fault = { unknownOption: "--new" };
  expect(remedyFor(turn(), ending(fault))?.start).toEqual({ sessionId: "s-1", attempt: 2, without: ["--new"] });
  expect(remedyFor(turn({ without: ["--new"] }), ending(fault))).toBeNull();
});

test("nothing else is tried again", () => {
  expect(remedyFor(turn(), ending(null))).toBeNull();
  expect(remedyFor(turn(), ending({ kind: "quota" }))).toBeNull();
  expect(remedyFor(turn(), ending({ kind: "unknown-session" }, { outcome: outcome("cancelled") }))).toBeNull();
});

test("all attempts are paid for", () => {
  const none = ending(null, { report: { inputTokens: 1, cachedInputTokens: 0, outputTokens: 0, costUsd: null } as CliReport });
  expect(withEarlier(ending(null), [ending(null), none]).report).toMatchObject({
    inputTokens: 3,
    cachedInputTokens: 4,
    outputTokens: 6,
    costUsd: 1,
  });
  expect(withEarlier(none, []).report.costUsd).toBeNull();
});

test("a claim that the pod cannot write to is handed over, once", () => {
  const outcome = { kind: "never-started", cause: "claim-not-writable", message: "user 1:1 cannot write", permanent: false };
  const told = { ...ending(null), outcome } as unknown as Parameters<typeof remedyFor>[1];
  expect(remedyFor(turn(), told)).toEqual({
    note: "user 1:1 cannot write; giving it to that user and starting again",
    start: { sessionId: "s-1", attempt: 2, without: [], setOwnership: true },
  });
  expect(remedyFor(turn({ setOwnership: true }), told)).toBeNull();
});
