import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Agents, openAgents, SECRET, TOKEN } from "./agents.ts";

// The real OpenCode CLI: what it leaves, and how its runs end.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

test("a second turn resumes the session and remembers the first", async () => {
  const conversation = { cli: "opencode", agent: randomUUID(), task: "issue-1" } as const;
  const first = await stage.run({ ...conversation, prompt: "Please use-tool once" });
  const second = await stage.run({ ...conversation, prompt: "remember", session: first.session });
  expect(second.result, second.log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId });
  expect(second.result.summary).toContain("Please use-tool once");
});

test("no secret, token or prompt is in the Job, in a log line, in onMeta's arguments or in an error", async () => {
  const seen: string[] = [];
  const look = async () =>
    seen.push(JSON.stringify(await Promise.all([stage.bed.list("jobs"), stage.bed.list("pods"), stage.bed.list("events")])));
  const spy = setInterval(() => void look().catch(() => {}), 100);
  const prompt = "secret-prompt-words model-error";
  const { result, log, meta } = await stage.run({ cli: "opencode", prompt });
  clearInterval(spy);
  expect(seen.some((text) => text.includes("agent-opencode-"))).toBe(true);
  expect(result.errorMessage).toMatch(/Scripted refusal/);
  const texts = [...seen, log, result.errorMessage ?? "", JSON.stringify(result)];
  for (const secret of [SECRET, TOKEN]) for (const text of [...texts, JSON.stringify(meta)]) expect(text.includes(secret)).toBe(false);
  for (const text of texts) expect(text.includes("secret-prompt-words")).toBe(false);
});

test("the container's log and the file on the volume hold the same bytes", async () => {
  const { result, runId } = await stage.run({ cli: "opencode", prompt: "Please use-tool once", config: { retainJobs: true } });
  expect(result.exitCode).toBe(0);
  const pod = (await stage.bed.list("pods")).find(({ metadata }) => metadata.labels?.["paperclip.io/run-id"] === runId);
  const file = (await readdir(stage.bed.data, { recursive: true })).find((path) => path.endsWith(`${runId}.pod/output.ndjson`));
  const written = await readFile(join(stage.bed.data, file ?? ""), "utf8");
  expect(written).toContain("hello-from-tool");
  expect(await stage.bed.podLog(pod?.metadata.name ?? "")).toBe(written);
});

test("a tool that fails does not fail the run", async () => {
  const { result } = await stage.run({ cli: "opencode", prompt: "bad-tool" });
  expect(result).toMatchObject({ exitCode: 0, summary: expect.stringContaining("scripted") });
  expect(result.errorMessage).toBeUndefined();
});

test("the host's abort cancels, and what the run has used is kept", async () => {
  const cancel = new AbortController();
  let steps = 0;
  const { result } = await stage.run({
    cli: "opencode",
    prompt: "endless-steps",
    signal: cancel.signal,
    // The second call follows the end of the first step.
    onLine: (line) => line.startsWith("▸") && ++steps === 2 && cancel.abort(new Error("Cancelled by a board operator")),
  });
  expect(result).toMatchObject({
    errorCode: "cancelled",
    errorMessage: expect.stringContaining("board operator"),
    resultJson: { executionCancellation: { state: "acknowledged" } },
  });
  expect(result.usage?.outputTokens).toBeGreaterThan(0);
  expect(result.sessionId).toMatch(/^ses_/);
});

test("the time limit keeps session and usage", async () => {
  const { result } = await stage.run({ cli: "opencode", prompt: "endless-steps", config: { timeoutSec: 45, graceSec: 1 } });
  expect(result).toMatchObject({ timedOut: true, errorCode: "timeout", sessionId: expect.stringMatching(/^ses_/) });
  expect(result.usage?.outputTokens).toBeGreaterThan(0);
});
