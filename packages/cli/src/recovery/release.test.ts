import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { HostApi } from "@paperclip-k8s/paperclip/host-api";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type HeldIssue, readIssue, type WaitingIssue } from "./find/held-issues.ts";
import { release, restore } from "./release.ts";

// Over a real connection. Blocker and runs are shaped as Paperclip 2026.916.1 shows them; the order of two holds is made up after what was seen of it.

const ISSUE = "cb524b4a-a4f4-4f9a-900f-c49936570629";
const RUN = "f7570d0c-c9d5-408e-86a3-c2fa0c427948";
const NEXT = "dbb84d6a-242c-4515-b84c-cb9f2bff459b";
const FIRST = "5d0b8a53-9f1c-4a43-9c58-0ad5f4b1a001";
const RECONCILIATION = { actionOutcome: "completed", evidence: "The agent exited with code 0, says its container." } as const;

/** Ids of the holds, the one that shows first in front. */
let rows: string[] = [];
/** A hold that shows only after the one before it was resolved and the issue read once as free. */
let late: string | null = null;
let stated: Record<string, unknown>[] = [];
/** An action of the issue that is no hold. */
let repair: string | null = null;
let server: Server;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer(`${request.method} ${request.url}`, text === "" ? {} : JSON.parse(text))));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
});
afterAll(() => server.close());
beforeEach(() => {
  rows = [];
  late = null;
  stated = [];
  repair = null;
});

function answer(asked: string, body: Record<string, unknown>): unknown {
  if (asked.endsWith("/recovery-actions/resolve")) {
    stated.push(body);
    if (repair === body.actionId) repair = null;
    rows = rows.filter((id) => id !== body.actionId);
    return { id: body.actionId, status: "resolved", outcome: "restored" };
  }
  if (asked.startsWith("GET /api/issues/")) return issue();
  if (asked.includes("/companies/")) return rows.length === 0 && late === null && stated.length > 0 ? [next()] : [];
  const earlier = asked.endsWith(FIRST);
  return { status: "interrupted", errorCode: "server_shutdown_interrupted", agentId: "agent", retryOfRunId: earlier ? null : FIRST };
}

function issue(): unknown {
  const [recoveryActionId] = rows;
  const nextAction = "Automatic recovery stopped. Recorded work is preserved; actions with unverified outcomes will not be repeated.";
  const held = { recoveryActionId, runId: RUN, agentId: "agent", cause: "legacy_execution_requires_reconciliation", nextAction };
  const executionBlocker = recoveryActionId === undefined ? null : held;
  if (executionBlocker === null && late !== null) [rows, late] = [[late], null];
  const action = { id: repair, cause: "configuration_incomplete", nextAction: "Bind it", evidence: { latestRunId: RUN } };
  const activeRecoveryAction = repair === null ? null : action;
  return {
    id: ISSUE,
    identifier: "TES-1",
    status: "blocked",
    companyId: "company",
    assigneeAgentId: "agent",
    executionBlocker,
    activeRecoveryAction,
  };
}

const next = () => ({ id: NEXT, status: "queued", retryOfRunId: RUN, contextSnapshot: { issueId: ISSUE } });

const api = () => new HostApi(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, null, 30_000);
const resolve = async () => release(api(), (await readIssue(api(), ISSUE)) as HeldIssue, RECONCILIATION, 700);
const actions = () => stated.map(({ actionId }) => actionId);

test("one hold: stated once, and the run that follows is named", async () => {
  rows = ["a1"];
  expect(await resolve()).toEqual({ kind: "released", nextRun: NEXT, rows: 1 });
  expect(stated).toEqual([
    {
      actionId: "a1",
      outcome: "restored",
      sourceIssueStatus: "todo",
      executionReconciliation: { runId: RUN, providerStopped: true, actionOutcome: "completed", outcomeEvidence: RECONCILIATION.evidence },
    },
  ]);
});

test("held twice for one run: the second shows when the first is gone, and is stated too", async () => {
  rows = ["a1", "a2"];
  expect(await resolve()).toEqual({ kind: "released", nextRun: NEXT, rows: 2 });
  expect(actions()).toEqual(["a1", "a2"]);
});

test("a second hold that shows only after a while, when no run has followed", async () => {
  rows = ["a1"];
  late = "a2";
  expect(await resolve()).toEqual({ kind: "released", nextRun: NEXT, rows: 2 });
});

test("a hold that stays although it was resolved is reported, and not resolved for ever", async () => {
  rows = ["a1", "a2", "a3", "a4", "a5", "a6", "a7"];
  expect(await resolve()).toEqual({ kind: "still-held", cause: "legacy_execution_requires_reconciliation" });
  expect(actions()).toHaveLength(5);
});

test("what a held run was to go on with is found by its chain", async () => {
  rows = ["a1"];
  expect(await readIssue(api(), ISSUE)).toMatchObject({ kind: "held", run: { id: RUN }, actionId: "a1", earlier: [FIRST] });
  rows = [];
  expect(await readIssue(api(), ISSUE)).toMatchObject({ kind: "free", identifier: "TES-1" });
});

test("an action that waits beside the hold is resolved first: the host releases no hold before that", async () => {
  rows = ["a1"];
  repair = "c1";
  expect(await resolve()).toEqual({ kind: "released", nextRun: NEXT, rows: 1 });
  expect(actions()).toEqual(["c1", "a1"]);
  expect(stated[0]).toEqual({ actionId: "c1", outcome: "restored", sourceIssueStatus: "todo" });
});

test("an issue that waits for a repair is handed back without a statement about a run", async () => {
  repair = "c1";
  const waiting = (await readIssue(api(), ISSUE)) as WaitingIssue;
  expect(waiting).toMatchObject({ kind: "waiting", action: { id: "c1", cause: "configuration_incomplete" }, run: { id: RUN } });
  expect(await restore(api(), waiting, "c1", 700)).toBe(NEXT);
  expect(stated).toEqual([{ actionId: "c1", outcome: "restored", sourceIssueStatus: "todo" }]);
});
