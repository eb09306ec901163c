import { describe, expect, test } from "vitest";
import type { Fact } from "./observation.ts";
import type { RunState } from "./state.ts";
import { accepted, delivered, ended, endRecord, job, kindOf, message, play, pod, running, startRecord } from "./testing/example-facts.ts";

// Records that nobody has signed: of a Job that an earlier version started, in a file that other pods may be able to write to.

const unsigned = (state: RunState): RunState => ({ ...state, identity: { ...state.identity, records: { kind: "unsigned" } } });

const follow = (facts: readonly Fact[], afterMs = 30_000): RunState => play(facts, { afterMs, from: unsigned(accepted()) });

const live: readonly Fact[] = [
  { kind: "job", job: job() },
  { kind: "pod", pod: pod(running) },
  { kind: "start-record", record: startRecord },
  { kind: "cli-started" },
  delivered(10),
];
const forged: Fact = { kind: "end-record", record: endRecord() };
const terminated = (exitCode: number, text: string | null): Fact => ({
  kind: "pod",
  pod: pod(ended(exitCode, exitCode === 0 ? "Completed" : "Error", text), { phase: exitCode === 0 ? "Succeeded" : "Failed" }),
});

describe("an end record without a signature", () => {
  test("does not end a run whose container runs", () => {
    expect(kindOf(follow([...live, forged], 600_000))).toBeNull();
  });

  test("gives way to the container's own termination message", () => {
    const state = follow([...live, forged, terminated(3, message({ exitCode: 3 }))]);
    expect(kindOf(state)).toMatchObject({ kind: "exited", exitCode: 3 });
    expect(state.outcome?.evidence).toMatchObject({ proof: "termination-message", endRecord: null, signed: false });
  });

  test("does not count against the container's exit code", () => {
    const state = follow([...live, forged, terminated(3, null)]);
    expect(kindOf(state)).toMatchObject({ kind: "exited", exitCode: 3 });
    expect(state.outcome?.evidence).toMatchObject({ proof: "container-state", output: { expected: null, complete: false } });
  });

  test("is the runner's own where it agrees with the container, and its proof of the output counts", () => {
    const own: Fact = { kind: "end-record", record: endRecord({ exitCode: 3 }) };
    const state = follow([...live, forged, own, terminated(3, null)]);
    expect(state.outcome).toMatchObject({ kind: "exited", exitCode: 3, evidence: { proof: "end-record", output: { complete: true } } });
  });

  test("is believed when the pod is gone, for nothing else is left", () => {
    const gone: Fact = { kind: "pod-gone", pod: pod(running) };
    expect(kindOf(follow([...live, forged, gone]))).toMatchObject({ kind: "exited", exitCode: 0 });
  });
});
