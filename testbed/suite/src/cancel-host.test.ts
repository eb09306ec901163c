import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentRun, type Agents, openAgents } from "./agents.ts";
import { placeRecordedCli } from "./recorded-cli.ts";

// What a host's abort, a lost lease and the run's status on the host mean for a run whose CLI is at work.

let stage: Agents;
let host: Server;
/** What the host says of each run, how often it was asked and how many questions are open; a run's test answers when it is asked. */
interface Asked {
  asked: number;
  open: number;
  readonly status: (asked: number) => string | Promise<string>;
}
const answers = new Map<string, Asked>();
let serverEnv: NodeJS.ProcessEnv;
beforeAll(async () => {
  stage = await openAgents();
  host = createServer(async (request, response) => {
    const run = answers.get(request.url?.split("/").at(-1) ?? "") ?? { asked: 0, open: 0, status: () => "running" };
    run.asked++;
    run.open++;
    const status = await Promise.race([run.status(run.asked), once(response, "close").then(() => "running")]);
    run.open--;
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

interface AtWork {
  readonly run?: Partial<AgentRun>;
  started(): void;
  readonly status?: Asked["status"];
  /** The line of the log with which it has started: the first one of a tool's result, when the CLI is in the middle of its work. */
  readonly at?: string;
}

/** A run whose CLI has written all but its last line. */
async function atWork({ run = {}, started, status, at = "hello-from-tool" }: AtWork) {
  const runId = randomUUID();
  const reported: Asked = { asked: 0, open: 0, status: status ?? (() => "running") };
  answers.set(runId, reported);
  const recorded = await placeRecordedCli(`${stage.tools}/${runId}`, "claude", ["tool-call"], { hold: true });
  const done = stage.run({
    cli: "claude",
    runId,
    prompt: "work",
    serverEnv,
    ...run,
    config: { command: recorded.command },
    onLine: (line) => line.includes(at) && started(),
  });
  return { done, reported, release: recorded.release };
}

test("an operator's: the CLI is stopped, and the result has its session and what it has used", async () => {
  const cancel = new AbortController();
  const started = () => cancel.abort(new Error("Cancelled by a board operator"));
  const { result } = await (await atWork({ run: { signal: cancel.signal }, started })).done;
  expect(result).toMatchObject({
    errorCode: "cancelled",
    errorMessage: expect.stringContaining("board operator"),
    sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    resultJson: { executionCancellation: { state: "acknowledged" } },
  });
  expect(result.usage?.outputTokens).toBeGreaterThan(0);
});

test.each([
  ["an operator's", "Cancelled by a board operator", { state: "acknowledged" }],
  ["a lost lease", "Legacy controller lease lost", undefined],
])("one that comes when the CLI has ended: %s, the result stays what it is, and a cancel is acknowledged", async (_, reason, wanted) => {
  const abort = new AbortController();
  const { done, release } = await atWork({ run: { signal: abort.signal }, started: () => abort.abort(new Error(reason)), at: "CLI ended" });
  await release();
  const { result, log } = await done;
  expect(result, log).toMatchObject({ exitCode: 0, summary: "All done: scripted answer.", sessionId: expect.any(String) });
  expect(result.resultJson?.executionCancellation, log).toEqual(wanted && expect.objectContaining(wanted));
});

test.each(["running", "interrupted"])(
  "a lost lease, and the host says %s: no cancel, nothing is deleted, the run ends as it would",
  async (says) => {
    const lease = new AbortController();
    const before = deletes();
    const started = () => lease.abort(new Error("Legacy controller lease lost"));
    const { done, reported, release } = await atWork({ run: { signal: lease.signal }, started, status: () => says });
    // The host is asked again and again, and the CLI is left at work.
    await expect.poll(() => reported.asked).toBeGreaterThan(2);
    expect(deletes()).toBe(before);
    await release();
    const { result, log } = await done;
    expect(result, log).toMatchObject({ exitCode: 0, summary: "All done: scripted answer." });
    expect(result.errorCode).toBeUndefined();
    expect(log).not.toContain("cancelling");
  },
);

test("a lost lease, and later a cancel: that one counts", async () => {
  const lease = new AbortController();
  const started = () => lease.abort(new Error("Legacy controller lease lost"));
  const status = (asked: number) => (asked > 2 ? "cancelled" : "running");
  const { result } = await (await atWork({ run: { signal: lease.signal }, started, status })).done;
  expect(result).toMatchObject({ errorCode: "cancelled", resultJson: { executionCancellation: { state: "acknowledged" } } });
});

test("a run returns when no question with its token is under way: one that meets the host's work with the result may cost the result", async () => {
  const lease = new AbortController();
  let release = async () => {};
  // The CLI ends while the host is asked, long before it answers.
  const status = async () => {
    await release();
    return sleep(3000, "running");
  };
  const run = await atWork({
    run: { signal: lease.signal },
    started: () => lease.abort(new Error("Legacy controller lease lost")),
    status,
  });
  release = run.release;
  const openAtReturn = await run.done.then(() => run.reported.open);
  expect(run.reported.asked).toBeGreaterThan(0);
  expect(openAtReturn).toBe(0);
});

test("on a host without signals the run's status cancels", async () => {
  let begun = false;
  const started = () => {
    begun = true;
  };
  const change = { signal: undefined, onCancellationReady: undefined };
  const { result } = await (await atWork({ run: { change }, started, status: () => (begun ? "cancelled" : "running") })).done;
  expect(result).toMatchObject({ errorCode: "cancelled" });
});
