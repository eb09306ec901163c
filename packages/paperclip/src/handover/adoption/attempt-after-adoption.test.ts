import type { Adoption } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import { ANNOTATION } from "../../host/keys.ts";
import { messagesAnnotation, messagesOf } from "../../prepare/messages.ts";
import { fingerprintAnnotation, fingerprintOf } from "../../prepare/resume-fingerprint.ts";
import { exampleAttempt, exampleInputs, exampleResult, exited } from "../../testing/example-attempt.ts";
import { hostContext } from "../../testing/host-context.ts";
import { attemptAfterAdoption } from "./attempt-after-adoption.ts";

/** What follows a Job with these annotations that was taken over by a run with this context; null = the run had its own Job. */
function after(context: Record<string, unknown>, annotations: Record<string, string> | null, exitCode = 0) {
  const inputs = exampleInputs({ ctx: hostContext({ context }).ctx });
  const attempt = exampleAttempt({ inputs, sessionId: "s-1", without: ["--x"] });
  const noted = { ...fingerprintAnnotation(fingerprintOf(inputs)), ...annotations };
  const adopted = annotations === null ? null : ({ job: { name: "job-1", annotations: noted } } as unknown as Adoption);
  return attemptAfterAdoption(exampleResult(exited(exitCode), { attempt, adopted, report: { sessionId: "s-2" } }));
}

test("a comment that the Job does not know is answered after it, in its session", () => {
  const context = { wakeCommentIds: ["c1", "c2"], wakeCommentId: "c2" };
  expect(after(context, { [ANNOTATION.messages]: "c1" })).toEqual({
    note: "Job job-1 was started before a message that this run is to answer: starting an attempt for that",
    start: { number: 2, sessionId: "s-2", without: ["--x"], setOwnership: false },
  });
  expect(after(context, {})?.note).toContain("2 messages");
});

test("a session that does not fit this run's settings is not resumed", () => {
  const next = after({ wakeCommentId: "c1" }, { [ANNOTATION.fingerprint]: "" });
  expect(next).toMatchObject({ note: expect.stringContaining("starting a fresh one"), start: { sessionId: null } });
});

test("nothing is left to answer: the Job knew it, it failed, or it is this run's own", () => {
  const context = { wakeCommentIds: ["c1"], interactionId: "i", interactionStatus: "accepted" };
  expect(after(context, { ...messagesAnnotation(context) })).toBeNull();
  expect(after(context, {}, 1)).toBeNull();
  expect(after(context, null)).toBeNull();
  expect(after({}, {})).toBeNull();
});

test("comments, and answers to what the agent asked: each once, as the host names them", () => {
  const asked = { interactionId: "i", interactionStatus: "accepted", approvalId: "a", approvalStatus: "rejected" };
  expect(messagesOf({ wakeCommentIds: ["c1", "c2", 7], commentId: "c2", ...asked })).toEqual(["c1", "c2", "i:accepted", "a:rejected"]);
  // Another answer to the same question is a new message.
  expect(after({ ...asked, approvalStatus: "approved" }, { ...messagesAnnotation(asked) })).not.toBeNull();
  expect(messagesAnnotation({})).toEqual({});
});
