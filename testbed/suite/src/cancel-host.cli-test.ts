import { afterAll, beforeAll, expect, test } from "vitest";
import { type Agents, openAgents } from "./agents.ts";

// The real Claude Code, asked to stop while it works; cancel-host.test.ts has the other ways a host ends a run.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

test("a cancel: the CLI is stopped, and the result has its session and what it has used", async () => {
  const cancel = new AbortController();
  const before = stage.llm.requests.length;
  const { result } = await stage.run({
    cli: "claude",
    prompt: "endless-steps",
    signal: cancel.signal,
    onLine: () => stage.llm.requests.length >= before + 3 && cancel.abort(new Error("Cancelled by a board operator")),
  });
  expect(result).toMatchObject({
    errorCode: "cancelled",
    errorMessage: expect.stringContaining("board operator"),
    sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    resultJson: { executionCancellation: { state: "acknowledged" } },
  });
  expect(result.usage?.outputTokens).toBeGreaterThan(0);
});
