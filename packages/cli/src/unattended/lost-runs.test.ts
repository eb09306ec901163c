import { expect, test } from "vitest";
import type { ListedRun } from "../recovery/listed-runs.ts";
import { lostForGood } from "./lost-runs.ts";

const run = (id: string, status: string, retryOfRunId: string | null = null): ListedRun => ({
  id,
  status,
  errorCode: null,
  agentId: "agent",
  retryOfRunId,
  superseded: false,
  companyId: "company",
  issueId: "issue",
  finishedAt: null,
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
