import { expect, test } from "vitest";
import type { Fact } from "./observation.ts";
import { reduce } from "./reduce.ts";
import type { RunState } from "./state.ts";
import { accepted, job, kindOf, pod, running, timeouts } from "./testing/example-facts.ts";

// After an outage the API server is back before the changes that happened meanwhile arrive.

const unschedulable = pod(null, {
  node: null,
  phase: "Pending",
  conditions: {
    PodScheduled: { status: "False", reason: "Unschedulable", message: "0/1 nodes are available: 1 Insufficient cpu", at: null },
  },
});

/** Disconnected from just after the start until every timeout has passed. */
function blindThenBack(before: readonly Fact[], begun: RunState = accepted()): { readonly state: RunState; readonly at: number } {
  let state = begun;
  let at = 100;
  for (const fact of [...before, { kind: "api-lost", error: "ECONNREFUSED" } as const])
    state = reduce(state, { at: at++, ...fact }, timeouts);
  at = timeouts.schedule + 5000;
  state = reduce(state, { at, kind: "tick" }, timeouts);
  expect(state.outcome).toBeNull();
  return { state: reduce(state, { at, kind: "api-back" }, timeouts), at };
}

const unscheduled: Fact[] = [
  { kind: "job", job: job() },
  { kind: "pod", pod: unschedulable },
];

test("a pod that was scheduled meanwhile is not given up by what was seen before", () => {
  const { state, at } = blindThenBack(unscheduled);
  expect(state.outcome).toBeNull();
  const later = reduce(state, { at: at + 200, kind: "pod", pod: pod(running) }, timeouts);
  expect(reduce(later, { at: at + 60_000, kind: "tick" }, timeouts).outcome).toBeNull();
});

test("one that still has no node is given up some seconds after", () => {
  const { state, at } = blindThenBack(unscheduled);
  const reported = reduce(state, { at: at + 200, kind: "pod", pod: unschedulable }, timeouts);
  expect(kindOf(reduce(reported, { at: at + timeouts.staleView, kind: "tick" }, timeouts))).toMatchObject({ cause: "unschedulable" });
});

test("a Job taken over whose pod was not seen before is not left at once", () => {
  const begun = accepted();
  const { state, at } = blindThenBack([{ kind: "job", job: job() }], { ...begun, identity: { ...begun.identity, adopted: true } });
  expect(state.outcome).toBeNull();
  expect(kindOf(reduce(state, { at: at + timeouts.staleView, kind: "tick" }, timeouts))).toMatchObject({ kind: "reattach-failed" });
});
