import type { Adoption } from "@paperclip-k8s/engine";
import { describe, expect, test } from "vitest";
import type { CliFault } from "../agent-cli/fault.ts";
import { ANNOTATION } from "../host/keys.ts";
import { DEFAULT_POLICY } from "../policy/policy.ts";
import type { AttemptStart } from "../prepare/attempt.ts";
import { messagesAnnotation, messagesOf } from "../prepare/messages.ts";
import { fingerprintAnnotation, fingerprintOf } from "../prepare/resume-fingerprint.ts";
import { exampleAttempt, exampleInputs, exampleResult, exited, type OutcomeKind } from "../testing/example-attempt.ts";
import { hostContext } from "../testing/host-context.ts";
import { nextAttempt } from "./next-attempt.ts";

const start: AttemptStart = { number: 2, sessionId: "s-1", without: [], setOwnership: false, tools: null, place: null };

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

describe("an image that lacks something", () => {
  const afterMissing = (
    cause: string,
    { tools = "auto", command = null as string | null, offered = "tools:1" as string | null } = {},
    used = false,
  ) => {
    const policy = { ...DEFAULT_POLICY, tools: { image: offered, mount: "copy" as const } };
    const inputs = exampleInputs({ config: { env: {}, tools, command } as never, policy, inherited: { image: "jdk:25" } as never });
    const outcome = { kind: "never-started", cause, message: "m", permanent: true } as OutcomeKind;
    const attempt = exampleAttempt({ inputs, sessionId: "s-1", tools: used ? "runtime-missing" : null });
    return nextAttempt(exampleResult(outcome, { attempt }));
  };

  test.each([
    ["runtime-missing", "has no Node"],
    ["runtime-too-old", "has a Node that is too old"],
    ["cli-missing", "does not have the agent's CLI"],
  ])("%s: the tools, once", (cause, why) => {
    expect(afterMissing(cause)).toEqual({
      note: `Node and the agent's CLI come from tools image tools:1, because image jdk:25 ${why}; starting again`,
      start: { ...start, tools: cause },
    });
    expect(afterMissing(cause, {}, true)).toBeNull();
  });

  test("not where there are none, where the agent does without, or where its own command is missing", () => {
    expect(afterMissing("runtime-missing", { offered: null })).toBeNull();
    expect(afterMissing("runtime-missing", { tools: "never" })).toBeNull();
    expect(afterMissing("cli-missing", { command: "/x/cli" })).toBeNull();
    expect(afterMissing("runtime-missing", { command: "/x/cli" })).not.toBeNull();
  });

  test("no other reason for not starting leads to the tools", () => {
    for (const cause of ["start-error", "image", "container-config", "volume-mount", "init-failed", "runner"])
      expect(afterMissing(cause)).toBeNull();
  });
});

/** What follows a Job with these annotations that was taken over by a run with this context; null = the run had its own Job. */
function afterAdopted(context: Record<string, unknown>, annotations: Record<string, string> | null, exitCode = 0) {
  const inputs = exampleInputs({ ctx: hostContext({ context }).ctx });
  const attempt = exampleAttempt({ inputs, sessionId: "s-1", without: ["--x"] });
  const noted = { ...fingerprintAnnotation(fingerprintOf(inputs)), ...annotations };
  const adopted = annotations === null ? null : ({ job: { name: "job-1", annotations: noted } } as unknown as Adoption);
  return nextAttempt(exampleResult(exited(exitCode), { attempt, adopted, report: { sessionId: "s-2" } }));
}

test("a comment that the Job does not know is answered after it, in its session", () => {
  const context = { wakeCommentIds: ["c1", "c2"], wakeCommentId: "c2" };
  expect(afterAdopted(context, { [ANNOTATION.messages]: "c1" })).toEqual({
    note: "Job job-1 was started before a message that this run is to answer: starting an attempt for that",
    start: { place: null, number: 2, sessionId: "s-2", without: ["--x"], setOwnership: false, tools: null },
  });
  expect(afterAdopted(context, {})?.note).toContain("2 messages");
});

test("a session that does not fit this run's settings is not resumed", () => {
  const next = afterAdopted({ wakeCommentId: "c1" }, { [ANNOTATION.fingerprint]: "" });
  expect(next).toMatchObject({ note: expect.stringContaining("starting a fresh one"), start: { sessionId: null } });
});

test("nothing is left to answer: the Job knew it, it failed, or it is this run's own", () => {
  const context = { wakeCommentIds: ["c1"], interactionId: "i", interactionStatus: "accepted" };
  expect(afterAdopted(context, { ...messagesAnnotation(context) })).toBeNull();
  expect(afterAdopted(context, {}, 1)).toBeNull();
  expect(afterAdopted(context, null)).toBeNull();
  expect(afterAdopted({}, {})).toBeNull();
});

test("comments, and answers to what the agent asked: each once, as the host names them", () => {
  const asked = { interactionId: "i", interactionStatus: "accepted", approvalId: "a", approvalStatus: "rejected" };
  expect(messagesOf({ wakeCommentIds: ["c1", "c2", 7], commentId: "c2", ...asked })).toEqual(["c1", "c2", "i:accepted", "a:rejected"]);
  // Another answer to the same question is a new message.
  expect(afterAdopted({ ...asked, approvalStatus: "approved" }, { ...messagesAnnotation(asked) })).not.toBeNull();
  expect(messagesAnnotation({})).toEqual({});
});
