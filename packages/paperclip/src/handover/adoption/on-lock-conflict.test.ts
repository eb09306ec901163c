import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { LockOwner } from "@paperclip-k8s/engine";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { apiOfRun } from "../../host/api.ts";
import { ANNOTATION } from "../../host/keys.ts";
import type { RunInputs } from "../../prepare/attempt.ts";
import { decideWith } from "./on-lock-conflict.ts";

// Over a real connection; testbed/paperclip shows the same on real hosts.

type Row = ({ readonly status: string } & Readonly<Record<string, unknown>>) | number;
let rows: Record<string, Row> = {};
let asked: string[] = [];
let host: Server;

beforeAll(async () => {
  host = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    const row = rows[request.url?.split("/").at(-1) ?? ""] ?? 404;
    response.statusCode = typeof row === "number" ? row : 200;
    response.end(JSON.stringify(typeof row === "number" ? {} : row));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => host.once("listening", resolve));
});
afterAll(() => host.close());
beforeEach(() => {
  rows = {};
  asked = [];
});

const owner: LockOwner = {
  jobName: "job",
  uid: "u",
  runId: "r1",
  labels: {},
  annotations: { [ANNOTATION.taskId]: "t" },
  ours: true,
  finished: false,
  ended: false,
  createdAt: null,
};

function decide(context: Record<string, unknown>, asked = owner) {
  const env = { PAPERCLIP_LISTEN_PORT: String((host.address() as AddressInfo).port) };
  const ctx = { runId: "r9", authToken: "tok", context: { taskId: "t", ...context } };
  const inputs = { ctx, config: { reattachOrphanedJobs: true } } as unknown as RunInputs;
  return decideWith(apiOfRun(ctx, env)!, inputs, null, "key")(asked);
}

const lost = { status: "failed", errorCode: "process_lost" };

test("asked with the run's own token", async () => {
  rows = { r1: lost };
  expect(await decide({ retryOfRunId: "r1" })).toEqual({ kind: "adopt" });
  expect(asked).toEqual(["/api/heartbeat-runs/r1 Bearer tok"]);
});

test("the chain of retries is followed back", async () => {
  rows = {
    r1: lost,
    r2: { ...lost, retryOfRunId: "r1" },
    r3: { status: "failed", errorCode: "k8s_job_create_failed", retryOfRunId: "r2" },
  };
  expect(await decide({ retryOfRunId: "r3" })).toEqual({ kind: "adopt" });
});

test("a run whose result the host's database lost has left its Job, too; one whose result is there has not", async () => {
  const failed = {
    status: "failed",
    errorCode: "adapter_failed",
    error: 'Failed query: insert into "workspace_operations" ("id") values ($1)',
  };
  rows = { r1: failed };
  expect(await decide({ retryOfRunId: "r1" })).toEqual({ kind: "adopt" });
  for (const row of [
    { ...failed, resultJson: { outcome: "exited" } },
    { ...failed, error: "exit code 1" },
    { ...failed, error: null },
  ]) {
    rows = { r1: row };
    expect(await decide({ retryOfRunId: "r1" })).toEqual({ kind: "wait" });
  }
});

test("what somebody cancelled on the way is not gone on with", async () => {
  rows = { r1: lost, r2: { status: "cancelled", retryOfRunId: "r1" } };
  expect(await decide({ retryOfRunId: "r2" })).toEqual({ kind: "wait" });
});

test("a waiting retry that a comment took the place of was stopped by nobody", async () => {
  const superseded = {
    status: "cancelled",
    errorCode: "cancelled",
    startedAt: null,
    resultJson: { stopReason: "cancelled" },
    retryOfRunId: "r1",
  };
  rows = { r1: lost, r2: superseded };
  expect(await decide({ retryOfRunId: "r2", wakeReason: "issue_commented" })).toEqual({ kind: "adopt" });
  rows = { r1: lost, r2: { ...superseded, resultJson: { cancelledByActorType: "user" } } };
  expect(await decide({ retryOfRunId: "r2", wakeReason: "issue_commented" })).toEqual({ kind: "wait" });
  rows = { r1: lost, r2: { ...superseded, startedAt: "2026-01-01T00:00:00Z" } };
  expect(await decide({ retryOfRunId: "r2", wakeReason: "issue_commented" })).toEqual({ kind: "wait" });
});

test("a chain that goes in circles ends", async () => {
  rows = { r1: lost, r2: { ...lost, retryOfRunId: "r3" }, r3: { ...lost, retryOfRunId: "r2" } };
  expect(await decide({ retryOfRunId: "r2" })).toEqual({ kind: "wait" });
  expect(asked.length).toBeLessThan(20);
});

test.each([500, 403])("a host that answers %i is no answer, and is asked again soon", async (status) => {
  rows = { r1: status };
  expect(await decide({ retryOfRunId: "r1" })).toEqual({ kind: "wait", undecided: true });
});

test("without an address or a token nobody is asked", () => {
  expect(apiOfRun({ authToken: "t" }, {})).toBeNull();
  expect(apiOfRun({}, { PAPERCLIP_LISTEN_PORT: "1" })).toBeNull();
});

test("a Job that names no run is waited for, and the host is not asked", async () => {
  expect(await decide({ retryOfRunId: "r1" }, { ...owner, runId: null })).toEqual({ kind: "wait" });
  expect(asked).toEqual([]);
});
