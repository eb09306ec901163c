import { describe, expect, test } from "vitest";
import type { Fact } from "./observation.ts";
import { condition, delivered, ended, endRecord, job, kindOf, play, pod, running, startRecord } from "./testing/example-facts.ts";

describe("a pod that is taken away", () => {
  test.each([
    ["EvictionByEvictionAPI", "eviction"],
    ["PreemptionByScheduler", "preemption"],
    ["DeletionByTaintManager", "node-loss"],
  ])("%s is distinguished from a deletion", (reason, by) => {
    const disrupted = { DisruptionTarget: { ...condition(reason, "why"), status: "True" } };
    const gone = pod(ended(143, "Error"), { deletedAt: "2026-01-01T00:00:00Z", conditions: disrupted });
    expect(
      kindOf(
        play([
          { kind: "pod", pod: gone },
          { kind: "pod-gone", pod: gone },
        ]),
      ),
    ).toMatchObject({ kind: "killed", by, exitCode: 143 });
  });

  test("a lost node's pod is given up after a while, though its deletion time lies ahead", () => {
    const disrupted = { DisruptionTarget: { ...condition("DeletionByTaintManager", "tainted"), status: "True" } };
    const marked = pod(running, { deletedAt: "2999-01-01T00:00:00Z", conditions: disrupted });
    expect(play([{ kind: "pod", pod: marked }], { afterMs: 50_000 }).outcome).toBeNull();
    expect(kindOf(play([{ kind: "pod", pod: marked }], { afterMs: 70_000 }))).toMatchObject({
      kind: "killed",
      by: "node-loss",
      exitCode: null,
    });
  });

  test("evicted by the kubelet: the pod stays, its container is a guess", () => {
    const evicted = pod(ended(137, "ContainerStatusUnknown"), { phase: "Failed", reason: "Evicted", message: "disk" });
    expect(kindOf(play([{ kind: "pod", pod: evicted }]))).toMatchObject({
      kind: "killed",
      by: "eviction",
      message: "the kubelet of node node1 evicted the pod: disk",
    });
  });

  test("stopped from outside: pod or Job deleted by hand", () => {
    const record = endRecord({ exitCode: 143, cause: "stopped" });
    const stopping = pod(running, { deletedAt: "2026-01-01T00:00:00Z" });
    const facts: Fact[] = [{ kind: "pod", pod: stopping }, delivered(10), { kind: "end-record", record }];
    expect(kindOf(play(facts))).toMatchObject({ kind: "deleted", what: "pod", exitCode: 143 });
    expect(kindOf(play([{ kind: "job-gone" }, ...facts]))).toMatchObject({ kind: "deleted", what: "job" });
  });

  test("a pod removed by force, last seen running", () => {
    expect(
      kindOf(
        play([
          { kind: "pod", pod: pod(running) },
          { kind: "pod-gone", pod: pod(running) },
        ]),
      ),
    ).toMatchObject({ kind: "deleted", what: "pod" });
  });

  test("a deleted Job whose pod still runs is not over until the pod is", () => {
    const facts: Fact[] = [{ kind: "pod", pod: pod(running) }, { kind: "job-gone" }];
    expect(play(facts, { afterMs: 20_000 }).outcome).toBeNull();
    expect(kindOf(play([...facts, { kind: "pod-gone", pod: pod(ended(143, "Error")) }]))).toMatchObject({
      kind: "deleted",
      what: "job",
      exitCode: 143,
    });
  });

  test("the limit of output, however the CLI ended then, also by SIGKILL that nothing else explains", () => {
    for (const how of [{ exitCode: 0 }, { exitCode: null, signal: "SIGKILL" }]) {
      const record = endRecord({ ...how, cause: "output-limit", bytes: 10, written: 10, error: "too much" });
      const facts: Fact[] = [delivered(10), { kind: "end-record", record }];
      expect(kindOf(play(facts))).toMatchObject({
        kind: "killed",
        by: "output-limit",
        message: "the CLI was ended: too much",
        exitCode: how.exitCode,
      });
    }
  });

  test("time limit of the runner, and the Job's deadline behind it", () => {
    const byRunner: Fact[] = [delivered(10), { kind: "end-record", record: endRecord({ exitCode: 143, cause: "timeout" }) }];
    expect(kindOf(play(byRunner))).toEqual({ kind: "timed-out", by: "runner", exitCode: 143 });
    const late = job({ conditions: { FailureTarget: condition("DeadlineExceeded") } });
    const started: Fact[] = [
      { kind: "start-record", record: startRecord },
      { kind: "job", job: late },
      { kind: "pod", pod: pod(ended(137, "Error")) },
    ];
    expect(kindOf(play(started))).toEqual({ kind: "timed-out", by: "deadline", exitCode: 137 });
    expect(kindOf(play([{ kind: "job", job: job({ conditions: { Failed: condition("DeadlineExceeded") } }) }]))).toMatchObject({
      kind: "never-started",
      cause: "deadline",
    });
  });
});
