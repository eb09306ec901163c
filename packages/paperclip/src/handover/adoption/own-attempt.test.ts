import type { Adoption, RunOutcome } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import type { CliReport } from "../../agent-cli/agent-cli.ts";
import type { Ending } from "../../conclude/failure.ts";
import { ANNOTATION } from "../../host/keys.ts";
import type { Turn } from "../../prepare/attempt.ts";
import { ownTurn } from "./own-attempt.ts";
import { inputsMark, wakeInputs } from "./run-inputs.ts";

const turn = (context: object) => ({ ctx: { context }, sessionId: "s-1", attempt: 1, without: ["--x"] }) as unknown as Turn;
const adopted = (annotations: Record<string, string>) => ({ job: { name: "job-1", annotations } }) as unknown as Adoption;
const ending = (exitCode: number) =>
  ({
    outcome: {
      kind: "exited",
      exitCode,
      signal: null,
      evidence: { output: { complete: true }, state: null, warnings: [], memory: {} },
    } as unknown as RunOutcome,
    report: { sessionId: "s-2", text: "done", errors: [] as string[], outputTokens: 1, succeeded: exitCode === 0 } as unknown as CliReport,
    fault: null,
    stderr: "",
    now: 0,
  }) satisfies Ending;

test("a comment that the Job was not told of is answered behind it, in its session", () => {
  const context = { wakeCommentIds: ["c1", "c2"], wakeCommentId: "c2" };
  expect(ownTurn(turn(context), ending(0), adopted({ [ANNOTATION.wakeInputs]: "c1" }))).toEqual({
    note: "Job job-1 was started before a message that this run is to answer: going on with that",
    start: { sessionId: "s-2", attempt: 2, without: ["--x"] },
  });
  expect(ownTurn(turn(context), ending(0), adopted({}))?.note).toContain("2 messages");
});

test("nothing is left to answer: the Job knew it, it failed, or it is this run's own", () => {
  const context = { wakeCommentIds: ["c1"], interactionId: "i", interactionStatus: "accepted" };
  expect(ownTurn(turn(context), ending(0), adopted({ ...inputsMark(context) }))).toBeNull();
  expect(ownTurn(turn(context), ending(1), adopted({}))).toBeNull();
  expect(ownTurn(turn(context), ending(0), null)).toBeNull();
  expect(ownTurn(turn({}), ending(0), adopted({}))).toBeNull();
});

test("comments, and answers to what the agent asked: each once, as the host names them", () => {
  const asked = { interactionId: "i", interactionStatus: "accepted", approvalId: "a", approvalStatus: "rejected" };
  expect(wakeInputs({ wakeCommentIds: ["c1", "c2", 7], commentId: "c2", ...asked })).toEqual(["c1", "c2", "i:accepted", "a:rejected"]);
  // Answered once more, otherwise: something new.
  expect(ownTurn(turn({ ...asked, approvalStatus: "approved" }), ending(0), adopted({ ...inputsMark(asked) }))).not.toBeNull();
  expect(inputsMark({})).toEqual({});
});
