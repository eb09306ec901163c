import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { createEngine } from "@paperclip-k8s/engine";
import { createAdapter } from "@paperclip-k8s/paperclip";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { opencode } from "../../../packages/adapter-opencode/src/agent-cli.ts";
import { type AgentRun, type Agents, openAgents } from "./agents.ts";
import { onKube } from "./bed.ts";
import { calm } from "./calm.ts";

// agentDbMode dedicated_pvc with the real OpenCode: sessions on a claim of the agent's own.

let stage: Agents;
let storageClass: string;
beforeAll(async () => {
  stage = await openAgents();
  storageClass = await stage.bed.addStorageClass(4);
});
afterEach(() => calm(stage.bed));
afterAll(() => stage.stop());

const turn = (agent: string, task: string, prompt: string, more: Partial<AgentRun> = {}) =>
  stage.run({
    cli: "opencode",
    agent,
    task,
    prompt,
    ...more,
    config: { agentDbMode: "dedicated_pvc", agentDbStorageClass: storageClass, ...more.config },
  });

const claimOf = async (agent: string) =>
  (await stage.bed.list("persistentvolumeclaims")).find(({ metadata }) => metadata.name === `opencode-db-${agent}`);

test("two turns: the second resumes what the claim has kept; nothing of it is on the shared volume", async () => {
  const agent = randomUUID();
  const first = await turn(agent, "task-1", "say:alpha remember this");
  expect(first.result, first.log).toMatchObject({ exitCode: 0 });
  expect(first.session).toMatchObject({ stateMode: "dedicated_pvc" });
  expect((await claimOf(agent))?.metadata.labels).toEqual({
    "app.kubernetes.io/managed-by": "paperclip",
    "paperclip.io/pvc-type": "agent-db",
    "paperclip.io/agent-id": agent,
    "paperclip.io/company-id": "company-1",
    "paperclip.io/adapter-type": "opencode_k8s",
  });
  // The storage class is needed only to make one.
  const second = await turn(agent, "task-1", "say:beta", { session: first.session, config: { agentDbStorageClass: "" } });
  expect(second.result, second.log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId });
  expect(stage.reported("say:beta").join("\n")).toContain("say:alpha remember this");
  const files = await readdir(stage.bed.data, { recursive: true });
  expect(files.filter((path) => /opencode\.db|agent-state/.test(path))).toEqual([]);
});

test("an unset storage class is refused with the field's name, and nothing is made", async () => {
  const agent = randomUUID();
  const from = stage.bed.requests.length;
  const { result } = await turn(agent, "task-1", "say:never", { config: { agentDbStorageClass: "" } });
  expect(result).toMatchObject({ errorCode: "configuration_incomplete", errorMessage: expect.stringContaining("agentDbStorageClass") });
  expect(await claimOf(agent)).toBeUndefined();
  const made = stage.bed.requests.slice(from).filter(({ verb, resource }) => verb === "create" && resource !== "selfsubjectaccessreviews");
  expect(made).toEqual([]);
});

test("a claim that could not be made is k8s_job_create_failed", async () => {
  const fault = stage.bed.faults.fail({ verb: "create", resource: "persistentvolumeclaims" }, { status: 422, times: 1 });
  const { result } = await turn(randomUUID(), "task-1", "say:never");
  fault.undo();
  expect(result).toMatchObject({ errorCode: "configuration_incomplete", resultJson: { cause: "k8s_job_create_failed" } });
});

test("a claim nobody handed over: one more start within the run; and two tasks of the agent take turns", async () => {
  const agent = randomUUID();
  const fault = stage.bed.faults.fail({ verb: "create", resource: "jobs" }, { status: 422, times: 1 });
  await turn(agent, "task-1", "say:never");
  fault.undo();
  const first = await turn(agent, "task-1", "say:one");
  expect(first.result, first.log).toMatchObject({ exitCode: 0 });
  if (onKube) expect(first.log).toMatch(/cannot write to .* \(EACCES\); giving it to that user and starting again/);
  const both = await Promise.all([turn(agent, "task-1", "slow-2 a"), turn(agent, "task-2", "slow-2 b")]);
  for (const { result, log } of both) expect(result, log).toMatchObject({ exitCode: 0 });
  const waited = both.filter(({ log }, index) => log.includes(`of run ${both[1 - index]?.runId}, which holds the same key`));
  expect(waited, both.map(({ log }) => log).join("\n")).toHaveLength(1);
});

test("changing the mode says what becomes of the session; while no mode is chosen it stays on its claim, which runs of other tasks report", async () => {
  const agent = randomUUID();
  const first = await turn(agent, "task-1", "say:alpha");
  const session = first.session;
  const stayed = await turn(agent, "task-1", "say:gamma", { session, config: { agentDbMode: "" } });
  expect(stayed.result, stayed.log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId });
  const moved = await turn(agent, "task-1", "say:beta", { session, config: { agentDbMode: "portable" } });
  expect(moved.result, moved.log).toMatchObject({ exitCode: 0 });
  expect(moved.log).toContain(`session ${first.result.sessionId} was kept on the agent's own claim (agentDbMode dedicated_pvc)`);
  const other = await turn(agent, "task-2", "say:epsilon", { config: { agentDbMode: "" } });
  expect(other.log).toContain(`claim ${stage.bed.namespace}/opencode-db-${agent} holds sessions of this agent`);
  const back = await turn(agent, "task-1", "say:delta", { session });
  expect(back.result.sessionId).toBe(first.result.sessionId);
});

test("the Test button: storage class and claim are looked at, where the mode needs them", async () => {
  const press = async (config: Record<string, unknown>) => {
    const adapter = createAdapter(opencode, { engine: createEngine(), serverEnv: TEST_POLICY });
    const { kubeconfig, namespace, images, data } = stage.bed;
    const place = { kubeconfig, namespace, image: images.agent, dataClaim: "data", dataPath: `${data}/none` };
    const { checks } = await adapter.testEnvironment({
      companyId: "company-1",
      adapterType: opencode.type,
      config: { ...place, ...config },
    });
    return checks.map(({ level, code }) => `${level} ${code}`).filter((code) => /storage_class|agent_claim/.test(code));
  };
  const own = { agentDbMode: "dedicated_pvc" };
  expect(await press({ ...own, agentDbStorageClass: storageClass })).toEqual(["info storage_class_found", "info agent_claim_accepted"]);
  expect(await press({ ...own, agentDbStorageClass: "nowhere" })).toEqual(["error storage_class_missing", "info agent_claim_accepted"]);
  expect(await press(own)).toEqual(["warn storage_class_unset"]);
  expect(await press({})).toEqual([]);
});
