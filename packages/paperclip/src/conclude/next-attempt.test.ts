import { expect, test } from "vitest";
import type { CliFault } from "../agent-cli/agent-cli.ts";
import type { AttemptStart } from "../prepare/attempt.ts";
import { exampleAttempt, exampleResult, exited, type OutcomeKind } from "../testing/example-attempt.ts";
import { nextAttempt } from "./next-attempt.ts";

const start: AttemptStart = { number: 2, sessionId: "s-1", without: [], setOwnership: false };

/** What follows an attempt that ended like this. */
function after(fault: Partial<CliFault> | null, changes: Partial<AttemptStart> = {}, outcome: OutcomeKind = exited(1)) {
  const attempt = exampleAttempt({ sessionId: "s-1", ...changes });
  return nextAttempt(exampleResult(outcome, { attempt, fault: fault && { kind: "other", message: "m", retryAfterSec: null, ...fault } }));
}

test.each<[Partial<CliFault>, RegExp]>([
  [{ kind: "unknown-session" }, /session s-1 is not known/],
  [{ kind: "corrupted-session" }, /session s-1 cannot go on \(m\)/],
])("%j: a fresh session, once", (fault, note) => {
  expect(after(fault)).toEqual({ note: expect.stringMatching(note), start: { ...start, sessionId: null } });
  expect(after(fault, { sessionId: null })).toBeNull();
});

test("an option this CLI does not know: the same start without it, once", () => {
  const fault = { unknownOption: "--new" };
  expect(after(fault)?.start).toEqual({ ...start, without: ["--new"] });
  expect(after(fault, { without: ["--new"] })).toBeNull();
});

test("nothing else is tried again", () => {
  expect(after(null)).toBeNull();
  expect(after({ kind: "quota" })).toBeNull();
  expect(after({ kind: "unknown-session" }, {}, { kind: "cancelled", reason: "", exitCode: 1, stopped: true })).toBeNull();
});

test("a claim that the pod cannot write to is given to its user, once", () => {
  const outcome = { kind: "never-started", cause: "claim-not-writable", message: "user 1:1 cannot write", permanent: false } as const;
  expect(after(null, {}, outcome)).toEqual({
    note: "user 1:1 cannot write; giving it to that user and starting again",
    start: { ...start, setOwnership: true },
  });
  expect(after(null, { setOwnership: true }, outcome)).toBeNull();
});
