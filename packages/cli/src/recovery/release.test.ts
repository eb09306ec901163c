import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { HostApi } from "@paperclip-k8s/paperclip/host-api";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readHeld } from "./held-issues.ts";
import { release } from "./release.ts";

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
});

function answer(asked: string, body: Record<string, unknown>): unknown {
  if (asked.endsWith("/recovery-actions/resolve")) {
    stated.push(body);
    rows = rows.filter((id) => id !== body.actionId);
    return { id: body.actionId, status: "resolved", outcome: "restored" };
  }
  if (asked.startsWith("GET /api/issues/")) return issue();
  if (asked.includes("/companies/")) return rows.length === 0 && late === null ? [{ id: NEXT, retryOfRunId: RUN }] : [];
  const earlier = asked.endsWith(FIRST);
  return { status: "interrupted", errorCode: "server_shutdown_interrupted", agentId: "agent", retryOfRunId: earlier ? null : FIRST };
}

function issue(): unknown {
  const [recoveryActionId] = rows;
  const nextAction = "Automatic recovery stopped. Recorded work is preserved; actions with unverified outcomes will not be repeated.";
  const held = { recoveryActionId, runId: RUN, agentId: "agent", cause: "legacy_execution_requires_reconciliation", nextAction };
  const executionBlocker = recoveryActionId === undefined ? null : held;
  if (executionBlocker === null && late !== null) [rows, late] = [[late], null];
  return { id: ISSUE, identifier: "TES-1", title: "Held", status: "blocked", companyId: "company", executionBlocker };
}

const api = () => new HostApi(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, null, 30_000);
const resolve = async () => release(api(), (await readHeld(api(), ISSUE))!, RECONCILIATION, 700);
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
  expect(await readHeld(api(), ISSUE)).toMatchObject({ run: { id: RUN }, actionId: "a1", earlier: [FIRST] });
  rows = [];
  expect(await readHeld(api(), ISSUE)).toBeNull();
});
