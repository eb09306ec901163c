import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { usage } from "@paperclip-k8s/llm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentRan, type AgentRun, type Agents, openAgents } from "./agents.ts";

// The real OpenCode with sub-agents: what the model bills for them belongs to the run, however it ends.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

const task = (input: object) =>
  JSON.stringify({ description: "sub work", prompt: "Write one sentence", subagent_type: "general", ...input });
/** The words are the sub-agent's: the model must not find them in the prompt of the run. */
const ENDLESS = String.raw`call:task {"description":"sub work","prompt":"endless\u002dsteps","subagent_type":"general"}`;
const PRICE = { input: 3e-6, cached: 0.3e-6, output: 15e-6 };
const OUTPUT = usage.output + usage.reasoning;

type Ran = Awaited<ReturnType<Agents["run"]>>;
const run = (given: Omit<AgentRun, "cli">): Promise<Ran> =>
  stage.run({ cli: "opencode", ...given, config: { logFormat: "raw", ...given.config } });

/** What so many answers cost; those of a model that is dearer count as several. */
const bill = (answers: number, prices = answers) => ({
  usage: { inputTokens: answers * usage.uncachedInput, cachedInputTokens: answers * usage.cacheRead, outputTokens: answers * OUTPUT },
  costUsd: expect.closeTo(prices * (usage.uncachedInput * PRICE.input + usage.cacheRead * PRICE.cached + OUTPUT * PRICE.output), 9),
});

const subAgentLines = ({ log }: AgentRan): string[] => log.split("\n").filter((line) => line.includes('"subAgent":"'));

/** A run that ends while a sub-agent works: the steps that had ended by then. */
async function endedMidway(given: Omit<AgentRun, "cli" | "prompt">) {
  const ran = await run({ prompt: ENDLESS, ...given });
  const steps = subAgentLines(ran).length;
  expect(steps).toBeGreaterThanOrEqual(2);
  // All but the run's own step, which waits for the sub-agent, and the one that was asked for last.
  expect(ran.turns.length - steps).toBeLessThanOrEqual(2);
  expect(ran.result).toMatchObject({ ...bill(steps), sessionId: expect.stringMatching(/^ses_/) });
  return ran.result;
}

test("a sub-agent", async () => {
  const { result, turns, log } = await run({ prompt: `call:task ${task({})}` });
  expect([result.exitCode, turns.length]).toEqual([0, 3]);
  expect(result).toMatchObject({ ...bill(3), summary: expect.stringContaining("scripted") });
  expect(log).not.toContain("warning:");
});

test("a sub-agent in a pod with a login file", async () => {
  const logins = join(stage.bed.data, `logins-${randomUUID()}`);
  mkdirSync(join(logins, ".local/share/opencode"), { recursive: true });
  writeFileSync(join(logins, ".local/share/opencode/auth.json"), JSON.stringify({ other: { type: "api", key: "k" } }));
  const { result, turns, log } = await run({ prompt: `call:task ${task({})}`, policy: `seeds: { folder: ${logins} }` });
  expect([result.exitCode, turns.length]).toEqual([0, 3]);
  expect(result).toMatchObject(bill(3));
  expect(log).not.toContain("warning:");
});

test("two sub-agents at once", async () => {
  const ran = await run({ prompt: `twice:task ${task({})}` });
  expect([ran.result.exitCode, ran.turns.length, subAgentLines(ran).length]).toEqual([0, 4, 2]);
  expect(ran.result).toMatchObject(bill(4));
});

test("a sub-agent's sub-agent", async () => {
  const env = { OPENCODE_CONFIG_CONTENT: JSON.stringify({ subagent_depth: 2, agent: { general: { permission: { task: "allow" } } } }) };
  const ran = await run({ prompt: `call:task ${task({ prompt: `call:task ${task({})}` })}`, env });
  expect([ran.result.exitCode, ran.turns.length, subAgentLines(ran).length]).toEqual([0, 5, 3]);
  expect(ran.result).toMatchObject(bill(5));
});

test("a resumed session resumes its sub-agent", async () => {
  const conversation = { agent: randomUUID(), task: "issue-1" };
  const first = await run({ ...conversation, prompt: `call:task ${task({})}` });
  const { subAgent } = JSON.parse(subAgentLines(first)[0]!.replace(/^[^{]*/, ""));
  const resumed = task({ task_id: subAgent, prompt: "Write another one" });
  const second = await run({ ...conversation, session: first.session, prompt: `call:task ${resumed}` });
  expect(second.result).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId, ...bill(3) });
  expect(subAgentLines(second).join()).toContain(subAgent);
});

test("a sub-agent with a model of its own costs what that model costs", async () => {
  const cost = { input: 30, output: 150, cache_read: 3 };
  const provider = { scripted: { models: { dear: { limit: { context: 100_000, output: 4096 }, cost } } } };
  const env = { OPENCODE_CONFIG_CONTENT: JSON.stringify({ provider, agent: { general: { model: "scripted/dear" } } }) };
  const { result, turns } = await run({ prompt: `call:task ${task({})}`, env });
  expect([result.exitCode, turns.map(({ model }) => model)]).toEqual([0, ["m", "dear", "m"]]);
  expect(result).toMatchObject({ ...bill(3, 12), model: "m" });
});

test("a cancel in the midst of a sub-agent", async () => {
  const cancel = new AbortController();
  let steps = 0;
  const onLine = (line: string) =>
    void (line.includes('"subAgent":"') && ++steps === 3 && cancel.abort(new Error("Cancelled by a board operator")));
  expect(await endedMidway({ signal: cancel.signal, onLine })).toMatchObject({ errorCode: "cancelled" });
});

test("a time limit in the midst of a sub-agent", async () => {
  expect(await endedMidway({ config: { timeoutSec: 45, graceSec: 1 } })).toMatchObject({ timedOut: true, errorCode: "timeout" });
});

test("where OpenCode starts as it would by hand, the log says that sub-agents are not counted", async () => {
  const { result, log } = await run({ prompt: `call:task ${task({})}`, config: { fastStart: false } });
  expect(result).toMatchObject({ exitCode: 0, ...bill(2) });
  expect(log.match(/warning: tokens and cost of sub-agents are not counted/g)).toHaveLength(1);
});
