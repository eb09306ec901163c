import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClaudeStage, openClaudeStage } from "./claude-agent.ts";

// A host that does not take what it is told has its time for it, and then its result.

let stage: ClaudeStage;
beforeAll(async () => {
  stage = await openClaudeStage();
});
afterAll(() => stage?.stop());

test("metadata that it never takes", async () => {
  const { result } = await stage.wake({ task: "say:done", hostPatienceMs: 500, ctx: { onMeta: () => new Promise<void>(() => {}) } });
  expect(result).toMatchObject({ exitCode: 0, summary: "done" });
  expect(result.errorCode).toBeUndefined();
}, 30_000);
