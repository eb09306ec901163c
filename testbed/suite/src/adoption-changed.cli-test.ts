import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Agents, openAgents } from "./agents.ts";
import { killInTurn } from "./kill-in-turn.ts";

// The agent is changed while its server is away, and a pod of it goes on as it was.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

test("a run that goes on with a Job of other settings finds it, and its session stays one of the old instructions", async () => {
  const conversation = { cli: "claude" as const, agent: randomUUID(), task: randomUUID(), runId: randomUUID() };
  const folder = join(stage.bed.data, "instances/default/companies/company-1/agents", conversation.agent);
  await mkdir(folder, { recursive: true });
  const instructionsFilePath = join(folder, "AGENTS.md");
  const before = { instructionsFilePath, concurrency: "task" };
  const after = { instructionsFilePath, concurrency: "agent" };
  await writeFile(instructionsFilePath, "Answer in verse.");
  await killInTurn(stage, { ...conversation, prompt: "orphan-word slow-3", config: before });
  await writeFile(instructionsFilePath, "Answer in prose.");
  const adopted = await stage.run({ ...conversation, prompt: "own-word", config: after });
  expect(adopted.log).toMatch(/adopted Job \S+ of run/);
  expect(adopted.result, adopted.log).toMatchObject({ exitCode: 0, sessionId: expect.any(String) });
  expect(stage.reported("own-word")).toEqual([]);
  const next = await stage.run({ ...conversation, runId: randomUUID(), prompt: "next-word", session: adopted.session, config: after });
  expect(next.log).toContain(`session ${adopted.result.sessionId} was made with other instructions or skills`);
  const last = await stage.run({ ...conversation, runId: randomUUID(), prompt: "last-word", session: next.session, config: after });
  expect(last.result, last.log).toMatchObject({ exitCode: 0, sessionId: next.result.sessionId });
});
