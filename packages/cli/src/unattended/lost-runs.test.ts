import { expect, test } from "vitest";
import type { ListedRun } from "../recovery/find/listed-runs.ts";
import { lostForGood } from "./lost-runs.ts";

const run = (id: string, status: string, retryOfRunId: string | null = null): ListedRun => ({
  id,
  status,
  errorCode: null,
  agentId: "agent",
  retryOfRunId,
  superseded: false,
  companyId: "company",
  issueId: `issue of ${id}`,
  finishedAt: null,
  neverStarted: false,
  mayHaveLostResult: false,
});
const lost = (id: string, retryOfRunId: string | null = null) => run(id, "interrupted", retryOfRunId);
const ended = { state: { kind: "never ran", why: "" } } as const;
const alive = { state: { kind: "alive", why: "" } } as const;
const found = (runs: readonly ListedRun[], jobs: Parameters<typeof lostForGood>[1] = []) => lostForGood(runs, jobs).map(({ id }) => id);

test("a lost run that nobody goes on with", () => {
  expect(found([lost("a"), run("b", "failed"), run("c", "succeeded")])).toEqual(["a"]);
  expect(found([lost("a")], [{ runIds: ["a"], ...ended }])).toEqual(["a"]);
});

test("not one that a later run goes on with: that run reports its end", () => {
  expect(found([run("b", "succeeded", "a"), lost("a")])).toEqual([]);
  expect(found([run("b", "scheduled_retry", "a"), lost("a")])).toEqual([]);
  // A chain of lost runs, at whose end one was followed; and one at whose end none was.
  expect(found([run("c", "failed", "b"), lost("b", "a"), lost("a")])).toEqual([]);
  expect(found([lost("b", "a"), lost("a")])).toEqual(["b", "a"]);
  expect(found([lost("b", "a"), lost("a", "b")])).toEqual(["b", "a"]);
});

test("not one whose Job lives, or works for another run", () => {
  expect(found([lost("a")], [{ runIds: ["a"], ...alive }])).toEqual([]);
  expect(found([lost("a"), run("b", "succeeded")], [{ runIds: ["b", "a"], ...ended }])).toEqual([]);
  expect(found([lost("a")], [{ runIds: ["unknown", "a"], ...ended }])).toEqual([]);
});

test("a retry that was cancelled before it started goes on with nothing", () => {
  const cancelled = (errorCode: string, neverStarted = true) => ({ ...run("b", "cancelled", "a"), issueId: "i", errorCode, neverStarted });
  const first = { ...lost("a"), issueId: "i" };
  // The agent closed its issue, or it was given to somebody else, while the retry waited.
  for (const code of ["issue_terminal_status", "issue_cancelled", "issue_reassigned", "issue_assignee_changed"])
    expect(found([cancelled(code), first])).toEqual(["a"]);
  expect(found([cancelled("cancelled", false), first])).toEqual([]);
});

test("not one whose task a later run of the same agent has settled: it may have taken the Job over without being a retry", () => {
  const [first, later] = [
    { ...lost("a"), issueId: "i" },
    { ...run("b", "succeeded"), issueId: "i" },
  ];
  expect(found([later, first])).toEqual([]);
  expect(found([first, later])).toEqual(["a"]);
  expect(found([{ ...later, agentId: "another" }, first])).toEqual(["a"]);
  expect(found([{ ...later, status: "interrupted" }, first])).toEqual(["b", "a"]);
  expect(
    found([
      { ...later, issueId: null },
      { ...first, issueId: null },
    ]),
  ).toEqual(["a"]);
});
