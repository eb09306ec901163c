import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRecordSecret } from "@paperclip-k8s/paperclip/record-secret";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { runCommand } from "../run-command.ts";
import { endRecord, metaFile } from "../testing/example-run.ts";

// The whole command, on an empty embedded cluster, against answers that are shaped as those of Paperclip 2026.916.1.

const ID = (name: string) => `${name}-0000-4000-8000-000000000000`;
const AGENT = ID("aaaaaaaa");
const RUN = ID("bbbbbbbb");
const NEXT = ID("cccccccc");

interface Shown {
  readonly identifier: string;
  status: string;
  blocker?: string;
  action?: string;
  readonly run: Record<string, unknown>;
}

/** By id. */
let issues: Record<string, Shown> = {};
let posted: string[] = [];
/** A lost run of an issue that the host fails to show. */
let unreadable: string | null = null;
let server: Server;
let cluster: Pocket;

beforeAll(async () => {
  cluster = await startPocket({ images: {} });
  cluster.createNamespace("agents");
  server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const path = (request.url ?? "").replace("/api", "");
    const answer = request.method === "POST" ? resolved(path, JSON.parse(text)) : shown(path);
    response.statusCode = path.includes("unreadable") ? 500 : answer === null ? 404 : 200;
    response.end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
});
afterAll(async () => {
  server.close();
  await cluster.stop();
});
beforeEach(() => {
  [issues, posted, unreadable] = [{}, [], null];
});

function shown(path: string): unknown {
  const [, first, id = "", third] = path.split(/[/?]/);
  if (first === "companies" && id === "") return [{ id: "company" }];
  if (third === "issues") return Object.keys(issues).map((each) => ({ id: each, status: issues[each]?.status }));
  if (third === "heartbeat-runs") {
    const next = { id: NEXT, status: "queued", retryOfRunId: RUN, contextSnapshot: { issueId: posted[0] } };
    const other = { id: unreadable, status: "interrupted", agentId: AGENT, contextSnapshot: { issueId: "unreadable" } };
    return [...(posted.length === 0 ? [] : [next]), ...(unreadable === null ? [] : [other])];
  }
  if (third === "audit")
    return {
      items: path.includes("settled") ? Object.keys(issues).map((entityId) => ({ entityId, createdAt: "1" })) : [],
      nextCursor: null,
    };
  if (first === "heartbeat-runs") return { id, agentId: AGENT, ...Object.values(issues)[0]?.run };
  const issue = Object.entries(issues).find(([each, { identifier }]) => each === id || identifier === id);
  if (issue === undefined) return null;
  const [key, { identifier, status, blocker, action }] = issue;
  const executionBlocker = blocker && { recoveryActionId: blocker, runId: RUN, cause: "legacy_execution_requires_reconciliation" };
  const activeRecoveryAction = action && { id: action, cause: "configuration_incomplete", evidence: { latestRunId: RUN } };
  return { id: key, identifier, status, companyId: "company", assigneeAgentId: AGENT, executionBlocker, activeRecoveryAction };
}

function resolved(path: string, body: Record<string, unknown>): unknown {
  const issue = issues[path.split("/")[2] ?? ""]!;
  posted.push(path.split("/")[2] ?? "");
  if (issue.blocker === body.actionId && body.executionReconciliation !== undefined) delete issue.blocker;
  if (issue.action === body.actionId) delete issue.action;
  return {};
}

const SECRET = { PAPERCLIP_K8S_RECORD_SECRET: "a secret of the server that proves its records" };

async function recover(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    out: (line: string) => void out.push(`${line}\n`),
    err: (line: string) => void err.push(`${line}\n`),
    env: { ...SECRET, PAPERCLIP_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    stopped: new AbortController().signal,
    now: Date.now,
  };
  const code = await runCommand(["recover", "--kubeconfig", cluster.kubeconfig, "-n", "agents", ...args], terminal);
  return { code, out: out.join(""), err: err.join("") };
}

const failed = { status: "timed_out", errorCode: "timeout", exitCode: 1, error: "It took too long" };
const refused = { status: "failed", errorCode: "configuration_incomplete", exitCode: 1, error: "The key was refused" };
const stored = { configFreshness: {}, outcome: "timed-out", proof: "end-record" };

test("nothing is held: it says how much was looked at", async () => {
  issues = { i1: { identifier: "ACME-1", status: "todo", run: {} } };
  expect(await recover()).toEqual({
    code: 0,
    out: "no issue is held (1 open issue in 1 company looked at); Jobs looked for in namespace agents\n",
    err: "",
  });
});

test("a hold that only the audit log and the issue itself show is listed, and released when it is named", async () => {
  issues = { i1: { identifier: "ACME-1", status: "blocked", blocker: "row", run: { ...failed, resultJson: stored } } };
  const listed = await recover();
  expect(listed).toMatchObject({ code: 3, err: "" });
  expect(listed.out.replace(/\s+/g, " ")).toContain(
    "ACME-1 bbbbbbbb timed_out/timeout ended: the agent was ended at its time limit; the host has its result; not lost by a restart: --issue ACME-1 starts it again",
  );
  expect(listed.out).toContain("1 issue held, 0 to be released, of 1 open issue in 1 company;");
  expect(posted).toEqual([]);

  expect(await recover("--issue", "ACME-1", "--dry-run")).toMatchObject({
    code: 3,
    out: expect.stringContaining("1 issue held, 1 to be released"),
  });
  expect(posted).toEqual([]);
  expect(await recover("--issue", "ACME-1")).toMatchObject({
    code: 0,
    out: expect.stringContaining(`ACME-1: released (mixed); run ${NEXT} follows`),
  });
  expect(posted).toEqual(["i1"]);
  expect(await recover("--issue", "ACME-1")).toEqual({ code: 0, out: "ACME-1 is not held: its status is blocked\n", err: "" });
});

test("a lost run of which nothing is left is released by the operator's word only", async () => {
  issues = { i1: { identifier: "ACME-1", status: "blocked", blocker: "row", run: { status: "interrupted" } } };
  expect(await recover()).toMatchObject({ code: 3, out: expect.stringContaining("unknown: no Job of this run is found") });
  expect((await recover("--issue", "ACME-1")).out.replace(/\s+/g, " ")).toContain('--issue ACME-1 --stopped "how you know it"');
  expect(posted).toEqual([]);
  expect(await recover("--issue", "ACME-1", "--stopped", "The machine is switched off.")).toMatchObject({ code: 0 });
  expect(posted).toEqual(["i1"]);
});

test("what waits for a repair is listed, is not called held, and is handed back when it is named", async () => {
  issues = {
    i1: { identifier: "ACME-1", status: "blocked", action: "row", run: { ...refused, resultJson: { ...stored, cause: "auth_required" } } },
  };
  const listed = await recover();
  expect(listed).toMatchObject({
    code: 0,
    out: expect.stringMatching(/failed\/auth_required {2}waits for you: The key was refused\. Repair that, then/),
  });
  expect(listed.out).toContain("no issue is held (1 open issue in 1 company looked at); 1 issue waits for somebody;");
  expect((await recover("--issue", "i1")).out).toContain(`ACME-1: set to todo; run ${NEXT} follows`);
});

test("an issue that was finished while it was held is only named", async () => {
  issues = { i1: { identifier: "ACME-1", status: "done", blocker: "row", run: { status: "interrupted" } } };
  expect(await recover()).toMatchObject({ code: 0, out: expect.stringContaining("finished, but held if somebody reopens them: ACME-1") });
});

test("what goes wrong with the cost of one run stops no release", async () => {
  const data = mkdtempSync(join(tmpdir(), "recover-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  unreadable = ID("dddddddd");
  for (const id of [RUN, unreadable]) {
    const folder = join(data, "instances/default/data/run-logs/company", AGENT, `${id}.pod`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "output.ndjson"), "");
    const meta = metaFile(id, [endRecord({ bytes: 0, written: 0, lines: 0 })], await findRecordSecret(SECRET, null));
    writeFileSync(join(folder, "output.ndjson.meta"), meta);
  }
  issues = { i1: { identifier: "ACME-1", status: "blocked", blocker: "row", run: { status: "interrupted" } } };
  const { code, out } = await recover("--data", data);
  expect(code, out).toBe(0);
  const [released, row] = [out.indexOf("ACME-1: released (completed)"), out.indexOf("dddddddd  could not be looked at")];
  expect(released).toBeGreaterThan(0);
  expect(row).toBeGreaterThan(released);
});

test("an unknown issue is an error", async () => {
  expect(await recover("--issue", "ACME-9")).toMatchObject({ code: 1, err: expect.stringContaining("GET http") });
});
