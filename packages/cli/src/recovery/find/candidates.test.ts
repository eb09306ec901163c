import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { HostApi } from "@paperclip-k8s/paperclip/host-api";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { searchHost } from "./candidates.ts";

// Over a real connection; lists and events are shaped as Paperclip 2026.916.1 shows them.

const ACTION = { settled: "issue.execution_recovery_settled", resolved: "issue.recovery_action_resolved" };
let issues: Record<string, unknown>[] = [];
let runs: Record<string, unknown>[] = [];
/** Newest first; null = this key may not read it. */
let audit: { action: string; entityId: string; details: { recoveryActionId: string }; createdAt: string }[] | null = [];
let asked: string[] = [];
let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const answer = answerTo(new URL(request.url ?? "", "http://host"));
    response.statusCode = answer === null ? 403 : 200;
    response.end(JSON.stringify(answer ?? { error: "Audit filters require permission: audit:view_agent_actions" }));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
});
afterAll(() => server.close());
beforeEach(() => {
  [issues, runs, audit, asked] = [[], [], [], []];
});

function answerTo({ pathname, searchParams }: URL): unknown {
  if (pathname === "/api/companies") return [{ id: "one" }];
  if (pathname.endsWith("/issues")) {
    const from = Number(searchParams.get("offset"));
    return issues.slice(from, from + Number(searchParams.get("limit")));
  }
  if (pathname.endsWith("/heartbeat-runs")) return runs;
  if (audit === null) return null;
  const all = audit.filter(({ action }) => action === searchParams.get("action"));
  const from = Number(searchParams.get("cursor") ?? 0);
  const to = from + Number(searchParams.get("limit"));
  return { items: all.slice(from, to), nextCursor: to < all.length ? String(to) : null };
}

const look = (hints: Parameters<typeof searchHost>[2] = [], knownFree = new Set<string>()) =>
  searchHost(new HostApi(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, null, 30_000), null, hints, knownFree);
const event = (action: string, issue: string, row: string, minute: number) => ({
  action,
  entityId: issue,
  details: { recoveryActionId: row },
  createdAt: `2026-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`,
});
const issue = (id: string, status = "todo", activeRecoveryAction: unknown = null) => ({ id, status, activeRecoveryAction });
const run = (id: string, status: string, issueId: string) => ({ id, status, contextSnapshot: { issueId } });

test("marked issues, holds that the audit log knows, and tasks of Jobs without a live run", async () => {
  issues = [issue("marked", "blocked", { id: "a" }), issue("held", "blocked"), issue("free")];
  runs = [run("r-live", "running", "live")];
  audit = [event(ACTION.settled, "held", "row", 1)];
  const found = await look([
    { task: "of-a-job", run: "r-gone" },
    { task: "live", run: "r-live" },
  ]);
  expect(found).toMatchObject({ candidates: ["marked", "held", "of-a-job"], openIssues: 3, unaudited: 0, companies: ["one"] });
});

test("what was resolved since is not asked for again; what was held again after that is", async () => {
  audit = [
    event(ACTION.settled, "twice", "row-2", 5),
    event(ACTION.resolved, "twice", "row-1", 4),
    event(ACTION.resolved, "released", "row-3", 4),
    event(ACTION.settled, "twice", "row-1", 3),
    event(ACTION.settled, "released", "row-3", 2),
    event(ACTION.resolved, "again", "row-4", 2),
    event(ACTION.settled, "again", "row-4", 3),
  ];
  expect((await look()).candidates.toSorted()).toEqual(["again", "twice"]);
});

describe("suspects", () => {
  beforeEach(() => {
    issues = [issue("blocked", "blocked"), issue("failed"), issue("went-well"), issue("runs"), issue("untouched")];
    runs = [
      run("r5", "succeeded", "went-well"),
      run("r4", "running", "runs"),
      run("r3", "failed", "runs"),
      run("r2", "interrupted", "failed"),
      run("r1", "failed", "went-well"),
    ];
  });

  test("every blocked issue, and every open one whose last run failed, whether or not the audit log can be read", async () => {
    expect(await look()).toMatchObject({ candidates: ["blocked", "failed"], unaudited: 0 });
    audit = null;
    expect(await look()).toMatchObject({ candidates: ["blocked", "failed"], unaudited: 1 });
  });

  test("where the list of runs is full, an issue without a listed run is asked for once", async () => {
    runs = [...runs, ...Array.from({ length: 995 }, (_, index) => run(`old-${index}`, "succeeded", "elsewhere"))];
    const knownFree = new Set<string>();
    expect((await look([], knownFree)).candidates).toEqual(["blocked", "failed", "untouched"]);
    knownFree.add("untouched");
    expect((await look([], knownFree)).candidates).toEqual(["blocked", "failed"]);
    runs = [run("r6", "succeeded", "untouched"), ...runs.slice(0, -1)];
    await look([], knownFree);
    expect([...knownFree]).toEqual([]);
  });

  test("an audit log without an end is read in part, and said to be", async () => {
    audit = Array.from({ length: 10_001 }, (_, index) => event(ACTION.settled, `i${index}`, "row", 1));
    audit.push(event(ACTION.resolved, "i", "row", 2));
    expect(await look()).toMatchObject({ candidates: ["blocked", "failed"], unaudited: 0, partlyAudited: 1 });
    // Companies, issues, runs, 50 pages of holds, one of resolutions.
    expect(asked).toHaveLength(54);
  });
});

test("a thousand open issues and hundreds of old holds cost a handful of requests", async () => {
  issues = Array.from({ length: 1000 }, (_, index) => issue(`i${index}`));
  const settled = Array.from({ length: 300 }, (_, index) => event(ACTION.settled, `i${index}`, `row-${index}`, 1));
  audit = [...settled.slice(1).map(({ entityId, details }) => event(ACTION.resolved, entityId, details.recoveryActionId, 2)), ...settled];
  expect(await look()).toMatchObject({ candidates: ["i0"], openIssues: 1000 });
  // Companies, two pages of issues, runs, two pages of each kind of event.
  expect(asked).toHaveLength(8);
});
