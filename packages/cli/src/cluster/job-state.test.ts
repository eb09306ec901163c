import { describe, expect, test } from "vitest";
import { endRecord, factsOf, finished, jobView, podView, running, terminated, waiting } from "../testing/example-run.ts";
import { jobState } from "./job-state.ts";

const unknown = { kind: "terminated", exitCode: 137, signal: null, reason: "ContainerStatusUnknown", message: null } as const;
const guessed = { ...unknown, startedAt: null, finishedAt: null };

describe("alive, whatever else is known", () => {
  test.each([
    ["a running container", factsOf({ pods: [podView(running)] })],
    ["a pod that waits", factsOf({ pods: [podView(waiting, { phase: "Pending" })] })],
    ["a pod without any status yet", factsOf({ pods: [podView(null, { phase: "Pending", node: null })] })],
    ["a Job that has no pod yet", factsOf({ pods: [] })],
    ["a Job that is suspended", factsOf({ job: jobView({ suspended: true }) })],
    ["an end record while the pod still runs", factsOf({ pods: [podView(running)], endRecord: endRecord() })],
    ["one pod of two", factsOf({ pods: [podView(terminated(1)), podView(running)] })],
    ["a pod that is being deleted", factsOf({ pods: [podView(running, { deletedAt: "2026-01-01T00:30:00Z" })] })],
    ["a finished Job with a running pod", factsOf({ job: jobView(finished("Failed", "DeadlineExceeded")), pods: [podView(running)] })],
  ])("%s", (_, facts) => {
    expect(jobState(facts)).toMatchObject({ kind: "alive" });
  });
});

describe("ended, with what proves it", () => {
  test("the container's end, before the Job knows", () => {
    const end = { exitCode: 3, reason: "Error", proof: "container state", pod: "otto-pod", node: "node-1", bytes: null };
    expect(jobState(factsOf({ pods: [podView(terminated(3))] }))).toMatchObject({ kind: "ended", end });
  });

  test("the termination message has bytes and lines", () => {
    const termination = endRecord({ exitCode: 0, bytes: 77, lines: 7 });
    const found = jobState(
      factsOf({ job: jobView(finished("Complete")), pods: [podView(terminated(0), { phase: "Succeeded" })], termination }),
    );
    expect(found).toMatchObject({ kind: "ended", end: { exitCode: 0, bytes: 77, lines: 7, proof: "termination message" } });
  });

  test("the end record comes first: it knows the signal", () => {
    const facts = factsOf({ pods: [podView(terminated(143))], endRecord: endRecord({ exitCode: null, signal: "SIGTERM" }) });
    expect(jobState(facts)).toMatchObject({
      kind: "ended",
      end: { exitCode: null, signal: "SIGTERM", proof: "end record", pod: "otto-pod", startedAt: "2026-01-01T00:00:05Z" },
    });
  });

  test("the end record alone is enough: pod and Job may be gone", () => {
    expect(jobState(factsOf({ job: null, endRecord: endRecord() }))).toMatchObject({ kind: "ended", end: { pod: null, exitCode: 0 } });
  });
});

test("never ran: a container that still waited when its pod ended, or a pod that no node had", () => {
  const job = jobView(finished("Failed", "DeadlineExceeded"));
  expect(jobState(factsOf({ job, pods: [podView(waiting, { phase: "Failed" })] }))).toMatchObject({ kind: "never ran" });
  expect(jobState(factsOf({ job, pods: [podView(null, { phase: "Failed", node: null })] }))).toMatchObject({ kind: "never ran" });
});

describe("not proved", () => {
  test.each([
    ["no Job, no records", factsOf({ job: null }), /no Job/],
    ["a finished Job whose pod is gone", factsOf({ job: jobView(finished("Complete")) }), /complete, but its pod is gone/],
    ["an end that was guessed", factsOf({ job: jobView(finished("Failed")), pods: [podView(guessed, { phase: "Failed" })] }), /not seen/],
    ["an evicted pod without a status", factsOf({ pods: [podView(null, { phase: "Failed", reason: "Evicted" })] }), /not seen/],
    [
      "a node that does not answer",
      factsOf({ pods: [podView(running, { conditions: { Ready: { status: "Unknown", reason: null, message: null, at: null } } })] }),
      /node-1 .* may still run/,
    ],
  ])("%s", (_, facts, why) => {
    expect(jobState(facts)).toMatchObject({ kind: "unknown", why: expect.stringMatching(why) });
  });
});
