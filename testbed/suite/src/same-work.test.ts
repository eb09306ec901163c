import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliNames } from "../../../packages/adapters.ts";
import { type Agents, openAgents } from "./agents.ts";
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

/** A run of the issue that is at work, and the next one under another key. */
async function underTwoKeys(context: Record<string, unknown>, lost: boolean) {
  const [agent, issue, first, second] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const recorded = await placeRecordedCli(`${stage.tools}/${issue}`, cli, ["success"], { hold: true });
  const work = { cli, agent, prompt: "work", config: { command: recorded.command }, serverEnv };
  const ids = { issueId: issue, taskId: issue };
  const earlier = stage.run({ ...work, runId: first, task: "status-card:42", context: ids });
  earlier.catch(() => {});
  await expect.poll(async () => (await recorded.calls()).length).toBe(1);
  if (lost) states.set(first, { status: "interrupted", errorCode: "server_shutdown_interrupted" });
  const lines: string[] = [];
  const next = stage.run({
    ...{ ...work, runId: second, task: issue, onLine: (line: string) => lines.push(line) },
    context: { ...ids, ...context, ...(lost && { retryOfRunId: first }) },
  });
  return { recorded, earlier, next, said: (text: string) => expect.poll(() => lines.join("\n")).toContain(text) };
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
