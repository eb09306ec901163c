import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Agents, openAgents, SECRET } from "./agents.ts";

// Each real CLI, once: a run with a tool call; of the quicker one also a second that goes on with its session. Their breadth is in *.cli-test.ts.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

const HANG = 300_000;

test(
  "OpenCode: tool call, cost and tokens, and a session that can be gone on with",
  async () => {
    const first = await stage.run({ cli: "opencode", agent: randomUUID(), task: "issue-1", prompt: "Please use-tool once" });
    expect(first.result, first.log).toMatchObject({
      exitCode: 0,
      timedOut: false,
      usageBasis: "per_run",
      provider: "scripted",
      summary: "All done: scripted answer.",
      sessionId: expect.stringMatching(/^ses_/),
    });
    expect(first.result.errorMessage).toBeUndefined();
    expect(first.result.usage?.outputTokens).toBeGreaterThan(0);
    expect(first.result.usage?.cachedInputTokens).toBeGreaterThan(0);
    expect(first.result.costUsd).toBeGreaterThan(0);
    expect(first.log).toContain("hello-from-tool");
    expect(first.log).toContain("session saved (");
    expect(first.session).toMatchObject({ sessionId: first.result.sessionId });
  },
  HANG,
);

test(
  "Claude Code: tool call, cost and tokens, then the session is resumed and remembers",
  async () => {
    const conversation = { cli: "claude", agent: randomUUID(), task: "issue-1" } as const;
    const config = { effort: "high", maxTurnsPerRun: 50 };
    const first = await stage.run({ ...conversation, prompt: "Please use-tool once", config });
    expect(first.result, first.log).toMatchObject({
      exitCode: 0,
      timedOut: false,
      usageBasis: "per_run",
      usage: { inputTokens: 920, cachedInputTokens: 1600, outputTokens: 114 },
      provider: "anthropic",
      biller: "anthropic",
      billingType: "api",
      model: "claude-sonnet-5",
      summary: "All done: scripted answer.",
      sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      resultJson: { num_turns: 2, subtype: "success", outcome: "exited" },
    });
    expect(first.result.errorMessage).toBeUndefined();
    expect(first.result.costUsd).toBeGreaterThan(0);
    expect(first.log).toContain("hello-from-tool");
    expect(first.meta).toMatchObject([{ commandArgs: expect.arrayContaining(["--effort", "high", "--max-turns", "50"]) }]);
    expect(first.turns[0]).toMatchObject({ model: "claude-sonnet-5", apiKey: SECRET });
    const second = await stage.run({ ...conversation, prompt: "remember", session: first.session });
    // Of this run alone, although Claude Code goes on counting in its session.
    const used = { inputTokens: 460, cachedInputTokens: 800, outputTokens: 57 };
    expect(second.result, second.log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId, usage: used });
    expect(second.result.costUsd).toBeLessThan(first.result.costUsd ?? 0);
    expect(second.result.summary).toContain("Please use-tool once");
  },
  HANG,
);
