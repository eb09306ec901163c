import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createEngine } from "@paperclip-k8s/engine";
import { type Llm, startLlm } from "@paperclip-k8s/llm";
import { createAdapter, type ExecutionContext } from "@paperclip-k8s/paperclip";
import { afterAll, beforeAll, expect, test } from "vitest";
import { opencode } from "../../../packages/adapter-opencode/src/agent-cli.ts";
import { type Bed, settingsFor, startBed } from "./bed.ts";

// The real OpenCode CLI through the adapter's own execute.

const SECRET = "s3cret-provider-key";
const TOKEN = "run-token-0123456789";
let bed: Bed;
let llm: Llm;
beforeAll(async () => {
  bed = await startBed();
  llm = await startLlm({ host: bed.hostAddress });
});
afterAll(async () => {
  await llm.stop();
  await bed.stop();
});

interface Wake {
  readonly task: string;
  readonly agent?: string;
  readonly session?: Record<string, unknown> | null;
  readonly config?: Record<string, unknown>;
  readonly ctx?: Partial<ExecutionContext>;
  readonly serverEnv?: NodeJS.ProcessEnv;
  readonly onLine?: (line: string) => void;
}

async function wake({ task, agent = randomUUID(), session = null, config, ctx, serverEnv = {}, onLine }: Wake) {
  const log: string[] = [];
  const meta: unknown[] = [];
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: `${llm.url}/v1`, apiKey: SECRET },
    models: { m: { limit: { context: 100_000, output: 4096 }, cost: { input: 3, output: 15, cache_read: 0.3 } } },
  };
  const adapter = createAdapter(opencode, { engine: createEngine(), serverEnv, pollMs: 100 });
  const runId = randomUUID();
  const result = await adapter.execute({
    runId,
    agent: { id: agent, companyId: "company-1", name: "Tester" },
    runtime: { sessionId: null, sessionParams: session, sessionDisplayId: null, taskKey: null },
    config: {
      ...settingsFor(bed),
      graceSec: 5,
      model: "scripted/m",
      promptTemplate: "Work.",
      env: { PAPERCLIP_OPENCODE_PROVIDERS: JSON.stringify({ scripted: provider }), OPENCODE_DISABLE_MODELS_FETCH: "1", MY_KEY: SECRET },
      ...config,
    },
    context: { paperclipTaskMarkdown: task },
    onLog: async (stream, chunk) => {
      log.push(`${stream}: ${chunk}`);
      for (const line of chunk.split("\n")) onLine?.(line);
    },
    onMeta: async (value) => void meta.push(value),
    authToken: TOKEN,
    signal: new AbortController().signal,
    onCancellationReady: async () => {},
    ...ctx,
  });
  return { result, runId, log: log.join(""), meta };
}

test("two turns: tool call, cost and tokens, then the session is resumed and remembers", async () => {
  const agent = randomUUID();
  const first = await wake({ agent, task: "Please use-tool once" });
  expect(first.result).toMatchObject({
    exitCode: 0,
    timedOut: false,
    usageBasis: "per_run",
    provider: "scripted",
    summary: "All done: scripted answer.",
  });
  expect(first.result.errorMessage).toBeUndefined();
  expect(first.result.usage?.outputTokens).toBeGreaterThan(0);
  expect(first.result.usage?.cachedInputTokens).toBeGreaterThan(0);
  expect(first.result.costUsd).toBeGreaterThan(0);
  expect(first.log).toContain("hello-from-tool");
  const second = await wake({ agent, task: "remember", session: first.result.sessionParams ?? null });
  expect(second.result.exitCode).toBe(0);
  expect(second.result.sessionId).toBe(first.result.sessionId);
  expect(second.result.summary).toContain("Please use-tool once");
}, 60_000);

test("no secret, token or prompt is in the Job, in a log line, in onMeta's arguments or in an error", async () => {
  const seen: string[] = [];
  const look = async () => seen.push(JSON.stringify(await Promise.all([bed.list("jobs"), bed.list("pods"), bed.list("events")])));
  const spy = setInterval(() => void look().catch(() => {}), 100);
  const prompt = "secret-prompt-words model-error";
  const { result, log, meta } = await wake({ task: prompt });
  clearInterval(spy);
  expect(seen.some((text) => text.includes("agent-opencode-"))).toBe(true);
  expect(result.errorMessage).toMatch(/Scripted refusal/);
  const texts = [...seen, log, result.errorMessage ?? "", JSON.stringify(result)];
  for (const secret of [SECRET, TOKEN]) for (const text of [...texts, JSON.stringify(meta)]) expect(text.includes(secret)).toBe(false);
  for (const text of texts) expect(text.includes("secret-prompt-words")).toBe(false);
}, 60_000);

test("the container's log and the file on the volume hold the same bytes", async () => {
  const { result, runId } = await wake({ task: "Please use-tool once", config: { retainJobs: true } });
  expect(result.exitCode).toBe(0);
  const pod = (await bed.list("pods")).find(({ metadata }) => metadata.labels?.["paperclip.io/run-id"] === runId);
  const file = (await readdir(bed.data, { recursive: true })).find((path) => path.endsWith(`${runId}.pod.ndjson`));
  const written = await readFile(join(bed.data, file ?? ""), "utf8");
  expect(written).toContain("hello-from-tool");
  expect(await bed.podLog(pod?.metadata.name ?? "")).toBe(written);
}, 60_000);

test("a tool that fails does not fail the run", async () => {
  const { result } = await wake({ task: "bad-tool" });
  expect(result).toMatchObject({ exitCode: 0, summary: expect.stringContaining("scripted") });
  expect(result.errorMessage).toBeUndefined();
}, 60_000);

test("an unknown session is told, and one fresh attempt made in the same run", async () => {
  const { result, log } = await wake({ task: "say:fresh start", session: { sessionId: "ses_0000000000000000000000000a" } });
  expect(result).toMatchObject({ exitCode: 0, summary: "fresh start" });
  expect(result.sessionId).not.toBe("ses_0000000000000000000000000a");
  expect(log).toMatch(/session ses_0+a is not known.*starting a fresh one/);
}, 60_000);

test("the host's abort cancels, and what the run has used is kept", async () => {
  const cancel = new AbortController();
  const { result } = await wake({
    task: "endless-steps",
    ctx: { signal: cancel.signal },
    onLine: (line) => line.startsWith("□") && cancel.abort(new Error("Cancelled by a board operator")),
  });
  expect(result).toMatchObject({
    errorCode: "cancelled",
    errorMessage: expect.stringContaining("board operator"),
    resultJson: { executionCancellation: { state: "acknowledged" } },
  });
  expect(result.usage?.outputTokens).toBeGreaterThan(0);
  expect(result.sessionId).toMatch(/^ses_/);
}, 60_000);

test("on a host without signals the run's status cancels", async () => {
  let status = "running";
  const host = createServer((_, response) => response.end(JSON.stringify({ status })));
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  const { result } = await wake({
    task: "slow-60",
    ctx: { signal: undefined, onCancellationReady: undefined },
    serverEnv: { PAPERCLIP_LISTEN_PORT: String((host.address() as AddressInfo).port) },
    onLine: (line) => {
      if (line.endsWith("CLI started")) status = "cancelled";
    },
  });
  host.close();
  expect(result).toMatchObject({ errorCode: "cancelled" });
}, 60_000);

test("the time limit keeps session and usage", async () => {
  const { result } = await wake({ task: "endless-steps", config: { timeoutSec: 15, graceSec: 1 } });
  expect(result).toMatchObject({ timedOut: true, errorCode: "timeout", sessionId: expect.stringMatching(/^ses_/) });
  expect(result.usage?.outputTokens).toBeGreaterThan(0);
}, 60_000);

test.each([
  [{ namespace: "" }, /^namespace: must be set/],
  [{ timeoutSec: "soon" }, /^timeoutSec: /],
  [{ env: { PAPERCLIP_OPENCODE_PROVIDERS: `{"key":"${SECRET}"` } }, /^PAPERCLIP_OPENCODE_PROVIDERS: is not valid JSON$/],
])("bad settings are refused by name before anything is created: %j", async (config, message) => {
  const before = bed.requests.length;
  const { result } = await wake({ task: "x", config });
  expect(result).toMatchObject({ exitCode: null, errorCode: "configuration_incomplete", errorMessage: expect.stringMatching(message) });
  expect(bed.requests).toHaveLength(before);
});

test("ids that cannot be path parts are refused", async () => {
  const { result } = await wake({ task: "x", agent: "../../etc" });
  expect(result).toMatchObject({ errorCode: "k8s_agent_id_invalid", errorMessage: expect.stringContaining("agent.id") });
});
