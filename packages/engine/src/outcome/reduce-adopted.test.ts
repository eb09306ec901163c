import { expect, test } from "vitest";
import type { Fact } from "./observation.ts";
import { reduce } from "./reduce.ts";
import type { RunState } from "./state.ts";
import { accepted, condition, delivered, endRecord, job, kindOf, pod, running, startRecord, timeouts } from "./testing/example-facts.ts";

// A run that has taken another one's Job over: "run-2", from "run-1".

const RUN_ID = "example.io/run-id";
const FROM = "example.io/adopted-from";
const mine = { [RUN_ID]: "run-2", [FROM]: "run-1" };

function adopted(facts: readonly Fact[], afterMs = 0): RunState {
  const begun = accepted();
  let at = 10;
  let state: RunState = { ...begun, identity: { ...begun.identity, runId: "run-2", adopted: true } };
  const see = (fact: Fact) => {
    state = reduce(state, { at, ...fact }, timeouts);
  };
  for (const fact of facts) see(fact);
  for (const end = at + afterMs; at < end && state.outcome === null; ) {
    at += 250;
    see({ kind: "tick" });
    if (state.endedAt !== null) see({ kind: "drained", bytes: state.delivered });
  }
  return state;
}

test("a watch that lags still shows the run before: that is no loss", () => {
  expect(adopted([{ kind: "job", job: job() }]).outcome).toBeNull();
  expect(adopted([{ kind: "job", job: job({ annotations: mine }) }]).outcome).toBeNull();
});

test("who took it from this run has it", () => {
  const annotations = { [RUN_ID]: "run-3", [FROM]: "run-1,run-2" };
  expect(kindOf(adopted([{ kind: "job", job: job({ annotations }) }]))).toEqual({ kind: "superseded", byRun: "run-3" });
});

test("a Job that is over and whose pod is collected is settled from its files", () => {
  const over = job({ annotations: mine, active: 0, conditions: { Complete: condition("Completed") } });
  const records: Fact[] = [
    { kind: "start-record", record: startRecord },
    delivered(10),
    { kind: "end-record", record: endRecord({ exitCode: 3 }) },
  ];
  expect(kindOf(adopted([{ kind: "job", job: over }, ...records], 30_000))).toMatchObject({ kind: "exited", exitCode: 3 });
});

test("ended, and it is not known how: it is reported as that, within seconds", () => {
  const over = job({ annotations: mine, active: 0, conditions: { Complete: condition("Completed") } });
  const state = adopted(
    [
      { kind: "job", job: over },
      { kind: "start-record", record: startRecord },
    ],
    60_000,
  );
  expect(kindOf(state)).toMatchObject({ kind: "end-unknown" });
});

test("live, and no pod of it is found: after a while it is left as it is", () => {
  const facts: Fact[] = [
    { kind: "job", job: job({ annotations: mine }) },
    { kind: "start-record", record: startRecord },
  ];
  expect(adopted(facts, timeouts.reattach - 1000).outcome).toBeNull();
  expect(kindOf(adopted(facts, timeouts.reattach + 1000))).toMatchObject({ kind: "reattach-failed" });
  expect(adopted([...facts, { kind: "pod", pod: pod(running) }], timeouts.reattach + 1000).outcome).toBeNull();
  expect(adopted([...facts, { kind: "api-lost", error: "gone" }], timeouts.reattach + 1000).outcome).toBeNull();
});

test("it is measured with its own deadline, not with that of the run that took it over", () => {
  const live = (deadlineSeconds: number | null): Fact[] => [
    { kind: "job", job: job({ annotations: mine, deadlineSeconds }) },
    { kind: "pod", pod: pod(running) },
  ];
  const seconds = timeouts.horizon / 1000;
  expect(adopted(live(10 * seconds), timeouts.horizon + 1000).outcome).toBeNull();
  expect(adopted(live(null), 2 * timeouts.horizon).outcome).toBeNull();
  expect(kindOf(adopted(live(60), 181_000))).toMatchObject({ kind: "end-unknown" });
});
