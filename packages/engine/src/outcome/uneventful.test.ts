import { expect, test } from "vitest";
import type { Fact } from "./observation.ts";
import { reduce } from "./reduce.ts";
import type { RunState } from "./state.ts";
import { accepted, condition, delivered, endRecord, job, pod, running, startRecord, timeouts, waiting } from "./testing/example-facts.ts";
import { isUneventful } from "./uneventful.ts";

/** A run that is followed, after these facts. */
function after(...facts: Fact[]): RunState {
  let at = 10;
  return [{ kind: "follow-started" } as const, ...facts].reduce(
    (state, fact) => reduce(state, { at: ++at, ...fact }, timeouts),
    accepted(),
  );
}

const runs: Fact[] = [
  { kind: "job", job: job({ active: 1 }) },
  { kind: "pod", pod: pod(running) },
  { kind: "start-record", record: startRecord },
];

test("a container that runs, with or without output", () => {
  expect(isUneventful(after(...runs))).toBe(true);
  expect(isUneventful(after(...runs, delivered(10)))).toBe(true);
});

test("time alone decides nothing then, short of the deadline", () => {
  const state = after(...runs, delivered(10));
  let later = state;
  for (let at = 2500; at < timeouts.horizon; at += 2500) later = reduce(later, { at, kind: "tick" }, timeouts);
  expect({ ...later, now: 0 }).toEqual({ ...state, now: 0 });
});

test.each<[string, Fact]>([
  ["an end record", { kind: "end-record", record: endRecord({ bytes: 20, written: 20 }) }],
  ["an API server that does not answer", { kind: "api-lost", error: "down" }],
  ["an API server that has just come back", { kind: "api-back" }],
  ["a volume that does not answer", { kind: "output-stalled", error: "hung", passes: true }],
  ["a cancel", { kind: "cancel-asked", reason: "no longer wanted" }],
  ["a pod that is being deleted", { kind: "pod", pod: pod(running, { deletedAt: "2026-01-01T00:00:00Z" }) }],
  ["a container that waits again", { kind: "pod", pod: pod(waiting("CrashLoopBackOff")) }],
  ["a pod that is gone", { kind: "pod-gone", pod: pod(running) }],
  ["a Job that is gone", { kind: "job-gone" }],
  ["a Job that is being deleted", { kind: "job", job: job({ deletedAt: "2026-01-01T00:00:00Z" }) }],
  ["a Job that has failed", { kind: "job", job: job({ conditions: { FailureTarget: condition("DeadlineExceeded") } }) }],
])("%s is an event", (_, fact) => expect(isUneventful(after(...runs, fact))).toBe(false));

test("nothing is uneventful before the container runs", () => {
  expect(isUneventful(after())).toBe(false);
  expect(isUneventful(after({ kind: "pod", pod: pod(waiting("ContainerCreating")) }))).toBe(false);
});
