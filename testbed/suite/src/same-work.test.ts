import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { permissions } from "@paperclip-k8s/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cliNames } from "../../../packages/adapters.ts";
import { type Agents, openAgents } from "./agents.ts";
import { onKube } from "./bed.ts";
import { placeRecordedCli } from "./recorded-cli.ts";

// One issue that the host wakes under several keys: Paperclip 2026.916 has keys of their own for status cards, and continues a reconciled run under
// the issue's id. The host is played.

let stage: Agents;
let host: Server;
const states = new Map<string, unknown>();
let serverEnv: NodeJS.ProcessEnv;
beforeAll(async () => {
  stage = await openAgents();
  host = createServer((request, response) => {
    response.end(JSON.stringify(states.get(request.url?.split("/").at(-1) ?? "") ?? { status: "running" }));
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  serverEnv = { PAPERCLIP_LISTEN_PORT: String((host.address() as AddressInfo).port) };
});
afterAll(async () => {
  host.closeAllConnections();
  host.close();
  await stage.stop();
});

const [cli] = cliNames;

/** Settings that an agent has at first, and those that it has when its run is continued. */
interface Change {
  readonly before?: Record<string, unknown>;
  readonly after?: Record<string, unknown>;
  readonly meanwhile?: () => void;
}

/** A run of the issue that is at work, and the next one under another key. */
async function underTwoKeys(context: Record<string, unknown>, lost: boolean, { meanwhile, ...change }: Change = {}) {
  const [agent, issue, first, second] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const recorded = await placeRecordedCli(`${stage.tools}/${issue}`, cli, ["success"], { hold: true });
  const config = { command: recorded.command, ...change.before };
  const work = { cli, agent, prompt: "work", config, serverEnv };
  const ids = { issueId: issue, taskId: issue };
  const earlier = stage.run({ ...work, runId: first, task: "status-card:42", context: ids });
  earlier.catch(() => {});
  await expect.poll(async () => (await recorded.calls()).length).toBe(1);
  meanwhile?.();
  if (lost) states.set(first, { status: "interrupted", errorCode: "server_shutdown_interrupted" });
  const lines: string[] = [];
  const next = stage.run({
    ...{ ...work, config: { ...config, ...change.after }, runId: second, task: issue, onLine: (line: string) => lines.push(line) },
    context: { ...ids, ...context, ...(lost && { retryOfRunId: first }) },
  });
  const again = (runId: string) => stage.run({ ...work, config: { ...config, ...change.after }, runId, task: issue, context: ids });
  return { recorded, earlier, next, again, said: (text: string) => expect.poll(() => lines.join("\n")).toContain(text) };
}

test("the run that continues a lost one takes its Job over, whatever their keys", async () => {
  const { recorded, next, said } = await underTwoKeys({ wakeReason: "issue_recovery_action_restored" }, true);
  await said("adopted Job");
  await recorded.release();
  expect((await next).result.exitCode).toBe(0);
  expect(await recorded.calls()).toHaveLength(1);
});

test("any other run of the issue waits for the one that is live", async () => {
  const { recorded, earlier, next, said } = await underTwoKeys({}, false);
  await said("waiting for Job");
  expect(await recorded.calls()).toHaveLength(1);
  await recorded.release();
  expect((await earlier).result.exitCode).toBe(0);
  expect((await next).result.exitCode).toBe(0);
  expect(await recorded.calls()).toHaveLength(2);
});

test("two runs of the issue that begin at the same moment: one works, the other waits for it", async () => {
  const [agent, issue] = [randomUUID(), randomUUID()];
  const recorded = await placeRecordedCli(`${stage.tools}/${issue}`, cli, ["success"], { hold: true });
  const lines: string[] = [];
  const work = { cli, agent, prompt: "work", config: { command: recorded.command }, serverEnv, context: { issueId: issue, taskId: issue } };
  // So that the second one looks before the first one's Job is there.
  const slow = stage.bed.faults.delay({ verb: "create", resource: "jobs" }, 2000, { times: 2 });
  const runs = ["status-card:42", issue].map((task) => stage.run({ ...work, task, onLine: (line) => lines.push(line) }));
  await expect.poll(() => lines.join("\n")).toContain("waiting for Job");
  slow.undo();
  await expect.poll(async () => (await recorded.calls()).length).toBe(1);
  await recorded.release();
  for (const { result } of await Promise.all(runs)) expect(result.exitCode).toBe(0);
  expect(await recorded.calls()).toHaveLength(2);
});

describe.skipIf(onKube)("settings that changed while a run was lost", () => {
  const TEAM = "team";
  beforeAll(() => {
    stage.bed.pocket!.createNamespace(TEAM, { "pod-security.kubernetes.io/enforce": "restricted" });
    stage.bed.pocket!.createClaim(TEAM, "data", stage.bed.data);
  });
  const jobsIn = (namespace: string) => stage.bed.pocket!.list("jobs", namespace).length;
  const everywhere = () => ({ kubeconfig: stage.bed.pocket!.kubeconfig });

  test("another namespace: the run goes on where its Job is, and the next one is in the new place", async () => {
    const change = { before: everywhere(), after: { ...everywhere(), namespace: TEAM } };
    const { recorded, next, again, said } = await underTwoKeys({}, true, change);
    await said("the run that this one continues is in namespace agents");
    await said("adopted Job agents/");
    expect(jobsIn(TEAM)).toBe(0);
    await recorded.release();
    expect((await next).result.exitCode).toBe(0);
    expect(await recorded.calls()).toHaveLength(1);
    const { log, result } = await again(randomUUID());
    expect(result.exitCode).toBe(0);
    expect(log).toMatch(/Job team\/\S+ accepted/);
  });

  test("another kubeconfig: the same, with the one that the run was started with", async () => {
    const change = { before: everywhere(), after: { kubeconfig: stage.bed.kubeconfig } };
    const { recorded, next, said } = await underTwoKeys({}, true, change);
    await said("of the cluster in ");
    await said("adopted Job");
    await recorded.release();
    expect((await next).result.exitCode).toBe(0);
    expect(await recorded.calls()).toHaveLength(1);
  });

  test("a cluster that cannot be looked at any more: nothing is started, and it is said where to look", async () => {
    const kubeconfig = await stage.bed.account(permissions);
    const change = { before: { kubeconfig }, after: { kubeconfig: stage.bed.kubeconfig }, meanwhile: () => rmSync(kubeconfig) };
    const { recorded, earlier, next } = await underTwoKeys({}, true, change);
    const { exitCode, errorCode, errorMessage } = (await next).result;
    expect({ exitCode, errorCode }).toEqual({ exitCode: null, errorCode: "k8s_concurrency_guard_unreachable" });
    expect(errorMessage).toContain(
      `had its Job in namespace agents of kubeconfig ${kubeconfig}, and whether it still works there cannot be seen`,
    );
    await recorded.release();
    expect((await earlier).result.exitCode).toBe(0);
    expect(await recorded.calls()).toHaveLength(1);
  });
});
