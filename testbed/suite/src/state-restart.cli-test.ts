import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Agents, openAgents } from "./agents.ts";
import { killInTurn } from "./kill-in-turn.ts";

// A server that is killed in the middle of a turn: the pod goes on, saves its session, and the next turn has it.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

test("the next turn waits for the pod that goes on, and resumes what it has saved", async () => {
  const conversation = { cli: "claude" as const, agent: randomUUID(), task: randomUUID() };
  const first = await stage.run({ ...conversation, prompt: "first-word" });
  await killInTurn(stage, { ...conversation, prompt: "orphan-word slow-3", session: first.session });
  // The host knows of no end of that run: it gives the session it had before.
  const next = await stage.run({ ...conversation, prompt: "next-word", session: first.session });
  expect(next.result, next.log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId });
  expect(next.log).toMatch(/waiting for Job \S+/);
  const reported = stage.reported("next-word").join("\n");
  for (const word of ["first-word", "orphan-word"]) expect(reported).toContain(word);
});
