import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClaudeStage, openClaudeStage } from "./claude-agent.ts";

// What a host's abort means for a run of the real CLI.

let stage: ClaudeStage;
let host: Server;
let status = "running";
let asked = 0;
let serverEnv: NodeJS.ProcessEnv;
beforeAll(async () => {
  stage = await openClaudeStage();
  host = createServer((_, response) => {
    asked++;
    response.end(JSON.stringify({ status }));
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  serverEnv = { PAPERCLIP_LISTEN_PORT: String((host.address() as AddressInfo).port) };
});
afterAll(async () => {
  host?.closeAllConnections();
  host?.close();
  await stage?.stop();
});

const deletes = () => stage.bed.requests.filter(({ verb, resource }) => verb === "delete" && resource === "jobs").length;

test("an operator's: the CLI is stopped, and the result has its session and what it has used", async () => {
  const cancel = new AbortController();
  const before = stage.llm.requests.length;
  let at = 0;
  const { result } = await stage.wake({
    task: "endless-steps",
    ctx: { signal: cancel.signal },
    onLine: () => {
      if (at > 0 || stage.llm.requests.length < before + 3) return;
      at = Date.now();
      cancel.abort(new Error("Cancelled by a board operator"));
    },
  });
  const took = Date.now() - at;
  console.log(`cancel, the real CLI at work: returned ${took} ms`);
  expect(took).toBeLessThan(20_000);
  expect(result).toMatchObject({
    errorCode: "cancelled",
    errorMessage: expect.stringContaining("board operator"),
    sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    resultJson: { executionCancellation: { state: "acknowledged" } },
  });
  expect(result.usage?.outputTokens).toBeGreaterThan(0);
}, 60_000);

test.each(["running", "interrupted"])(
  "a lost lease, and the host says %s: no cancel, nothing is deleted, the run ends as it would",
  async (says) => {
    status = says;
    asked = 0;
    const lease = new AbortController();
    const before = deletes();
    let whileRunning: number | null = null;
    const { result, log } = await stage.wake({
      task: "bash:sleep 3",
      serverEnv,
      ctx: { signal: lease.signal },
      onLine: (line) => {
        if (line.endsWith("CLI started")) lease.abort(new Error("Legacy controller lease lost"));
        if (line.includes("CLI over")) whileRunning = deletes() - before;
      },
    });
    expect(result).toMatchObject({ exitCode: 0, summary: "All done: scripted answer." });
    expect(result.errorCode).toBeUndefined();
    expect(asked).toBeGreaterThan(2);
    expect(whileRunning).toBe(0);
    expect(log).not.toContain("cancelling");
  },
  60_000,
);

test("a lost lease, and later a cancel: that one counts", async () => {
  status = "running";
  const lease = new AbortController();
  const { result } = await stage.wake({
    task: "slow-60",
    serverEnv,
    ctx: { signal: lease.signal },
    onLine: (line) => {
      if (!line.endsWith("CLI started")) return;
      lease.abort(new Error("Legacy controller lease lost"));
      setTimeout(() => {
        status = "cancelled";
      }, 1000);
    },
  });
  expect(result).toMatchObject({ errorCode: "cancelled", resultJson: { executionCancellation: { state: "acknowledged" } } });
}, 60_000);
