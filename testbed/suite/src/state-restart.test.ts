import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStateStage, type StateStage, type StateTurn } from "./state-agents.ts";

// A server that is killed in the middle of a turn: the pod goes on, saves its session, and the next turn has it.

let stage: StateStage;
beforeAll(async () => {
  stage = await openStateStage();
});
afterAll(() => stage?.stop());

/** Takes the turn in a process of its own, which is killed as soon as the CLI has asked the model. */
async function killedInTurn(turn: StateTurn): Promise<void> {
  const { kubeconfig, namespace, images, data } = stage.bed;
  const order = JSON.stringify({ bed: { kubeconfig, namespace, images, data }, llm: { url: stage.llm.url }, turn });
  const script = fileURLToPath(new URL("turn-server.ts", import.meta.url));
  const server = spawn(process.execPath, [script, order], { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(server, "exit");
  const asked = () => stage.told(turn.prompt).length > 0;
  for (let wait = 0; !asked() && server.exitCode === null && wait < 1200; wait++) await new Promise((resolve) => setTimeout(resolve, 100));
  server.kill("SIGKILL");
  await ended;
  expect(asked()).toBe(true);
}

test("the next turn waits for the pod that goes on, and resumes what it has saved", async () => {
  const conversation = { cli: "claude" as const, agent: randomUUID(), task: randomUUID() };
  const first = await stage.turn({ ...conversation, prompt: "first-word" });
  await killedInTurn({ ...conversation, prompt: "orphan-word slow-3", session: first.session });
  // The host knows of no end of that run: it gives the session it had before.
  const next = await stage.turn({ ...conversation, prompt: "next-word", session: first.session });
  expect(next.result, next.log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId });
  expect(next.log).toMatch(/waiting for Job \S+/);
  const told = stage.told("next-word").join("\n");
  for (const word of ["first-word", "orphan-word"]) expect(told).toContain(word);
}, 240_000);
