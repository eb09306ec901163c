import { expect, test } from "vitest";
import type { Fact } from "./observation.ts";
import { reduce } from "./reduce.ts";
import {
  accepted,
  delivered,
  ended,
  endRecord,
  job,
  kindOf,
  message,
  play,
  pod,
  running,
  timeouts,
  waiting,
} from "./testing/example-facts.ts";

// A server that was frozen finds that time has passed before it has read what happened meanwhile.

const PULL = pod(waiting("ErrImagePull"), { phase: "Pending" });
const at = (ms: number, fact: Fact = { kind: "tick" }) => ({ at: ms, ...fact });

/** What a server knows that saw these facts, stood still past every limit, and got its first tick. */
function thawed(facts: readonly Fact[], stoodStillMs: number) {
  const before = play([{ kind: "job", job: job() }, ...facts], { afterMs: 1000, looks: false });
  expect(before.outcome).toBeNull();
  const now = before.now + stoodStillMs;
  return { state: reduce(before, at(now), timeouts), now };
}

test("a pod that has started meanwhile is not given up by what was seen before", () => {
  const { state, now } = thawed([{ kind: "pod", pod: PULL }], timeouts.imagePull * 2);
  expect(kindOf(state)).toBeNull();
  const seen = reduce(state, at(now + 300, { kind: "pod", pod: pod(running) }), timeouts);
  expect(kindOf(reduce(seen, at(now + timeouts.staleView), timeouts))).toBeNull();
});

test("one that still does not start is given up a moment later", () => {
  const { state, now } = thawed([{ kind: "pod", pod: PULL }], timeouts.imagePull * 2);
  expect(kindOf(reduce(state, at(now + timeouts.staleView), timeouts))).toMatchObject({ kind: "never-started", cause: "image" });
});

test("a cancel whose pod has ended meanwhile is not called unconfirmed", () => {
  const facts: Fact[] = [
    { kind: "pod", pod: pod(running) },
    { kind: "cancel-asked", reason: "by an operator" },
  ];
  const { state, now } = thawed(facts, timeouts.cancel * 2);
  expect(kindOf(state)).toBeNull();
  const gone = reduce(state, at(now + 300, { kind: "pod-gone", pod: pod(ended(143, "Error")) }), timeouts);
  const end = reduce(gone, at(now + timeouts.staleView), timeouts);
  const read = reduce(end, at(end.now + timeouts.drain, { kind: "drained", bytes: 0 }), timeouts);
  expect(kindOf(read)).toMatchObject({ kind: "cancelled", stopped: true });
});

test("a cancel that could not be carried out meanwhile has its whole time afterwards", () => {
  const facts: Fact[] = [
    { kind: "pod", pod: pod(running) },
    { kind: "cancel-asked", reason: "by an operator" },
  ];
  let { state } = thawed(facts, timeouts.cancel * 2);
  const woken = state.now;
  for (; state.now - woken < timeouts.cancel - 1000; ) state = reduce(state, at(state.now + 250), timeouts);
  expect(kindOf(state)).toBeNull();
});

test("output that could not be read meanwhile is not called missing", () => {
  const facts: Fact[] = [{ kind: "pod", pod: pod(ended(0, "Completed", message())) }];
  const { state, now } = thawed(facts, timeouts.missing * 4);
  expect(kindOf(state)).toBeNull();
  const read = reduce(
    reduce(state, at(now + 300, delivered(10)), timeouts),
    at(now + 400, { kind: "end-record", record: endRecord() }),
    timeouts,
  );
  expect(kindOf(reduce(read, at(now + timeouts.staleView), timeouts))).toMatchObject({ kind: "exited", exitCode: 0 });
});

test("a Job that was gone is not taken for its pod's end by time that nobody watched", () => {
  const { state } = thawed([{ kind: "pod", pod: pod(running) }, { kind: "job-gone" }], timeouts.podOutlivesJob * 2);
  expect(state.endedAt).toBeNull();
});

test("no gap is found before the run is followed: nothing ticks then", () => {
  const before = { ...accepted(), followedAt: null };
  expect(reduce(before, at(timeouts.standstill * 10), timeouts).standstill).toBeNull();
});
