import { describe, expect, test } from "vitest";
import type { ContainerState, PodView } from "../kube/views.ts";
import type { Fact } from "./observation.ts";
import { reduce } from "./reduce.ts";
import {
  accepted,
  condition,
  container,
  ended,
  endRecord,
  job,
  kindOf,
  message,
  play,
  pod,
  timeouts,
  waiting,
} from "./testing/example-facts.ts";

describe("pods that do not start", () => {
  const notStarted = (main: ContainerState | null, changes: Partial<PodView> = {}, afterMs = 700_000) =>
    kindOf(
      play(
        [
          { kind: "job", job: job() },
          { kind: "pod", pod: pod(main, { phase: "Pending", ...changes }) },
        ],
        { afterMs },
      ),
    );

  test("a bad image name at once, a missing image after a while", () => {
    expect(notStarted(waiting("InvalidImageName", "bad"), {}, 0)).toMatchObject({
      cause: "image",
      message: expect.stringContaining("agent:1"),
    });
    expect(notStarted(waiting("ErrImagePull", "no such image"), {}, 50_000)).toBeNull();
    expect(notStarted(waiting("ErrImagePull", "no such image"), {}, 70_000)).toMatchObject({ cause: "image" });
  });

  test("back-off does not restart the clock of a pull", () => {
    const pull = (reason: string): Fact => ({ kind: "pod", pod: pod(waiting(reason), { phase: "Pending" }) });
    let state = accepted();
    for (let at = 0; at < 65_000 && state.outcome === null; at += 5000)
      state = reduce(state, { at, ...pull(at % 10_000 === 0 ? "ErrImagePull" : "ImagePullBackOff") }, timeouts);
    expect(kindOf(state)).toMatchObject({ cause: "image" });
  });

  test("unschedulable after the configured time, with the scheduler's words", () => {
    const unscheduled = { node: null, conditions: { PodScheduled: { ...condition("Unschedulable", "0/3 nodes"), status: "False" } } };
    expect(notStarted(null, unscheduled, 59_000)).toBeNull();
    expect(notStarted(null, unscheduled)).toMatchObject({
      cause: "unschedulable",
      message: "no node took the pod: 0/3 nodes; gave up after 60 s (scheduleTimeoutSec)",
    });
  });

  test("config errors, init failures, start errors, no pod at all", () => {
    expect(notStarted(waiting("CreateContainerConfigError", 'secret "x" not found'))).toMatchObject({ cause: "container-config" });
    const init = [container("seed", ended(5, "Error"))];
    expect(notStarted(waiting("PodInitializing"), { phase: "Failed", initContainers: init })).toMatchObject({
      cause: "init-failed",
      message: expect.stringContaining("seed"),
    });
    expect(notStarted(ended(128, "StartError", "exec: not found"), { phase: "Failed" })).toMatchObject({ cause: "start-error" });
    const quota: Fact = {
      kind: "events",
      events: [{ type: "Warning", reason: "FailedCreate", message: "exceeded quota", count: 1, at: null }],
    };
    expect(kindOf(play([{ kind: "job", job: job({ active: 0 }) }, quota], { afterMs: 60_000 }))).toMatchObject({
      cause: "no-pod",
      message: expect.stringContaining("exceeded quota"),
    });
    expect(play([{ kind: "job", job: job({ active: 0, suspended: true }) }], { afterMs: 60_000 }).outcome).toBeNull();
  });

  test("nothing is called a failure to start while the cluster cannot be seen", () => {
    const pull: Fact = { kind: "pod", pod: pod(waiting("ErrImagePull"), { phase: "Pending" }) };
    expect(play([{ kind: "job", job: job() }, pull, { kind: "api-lost", error: "down" }], { afterMs: 120_000 }).outcome).toBeNull();
    const unscheduled = pod(null, { phase: "Pending", node: null });
    expect(
      play(
        [
          { kind: "job", job: job() },
          { kind: "pod", pod: unscheduled },
          { kind: "api-lost", error: "x" },
        ],
        { afterMs: 120_000 },
      ).outcome,
    ).toBeNull();
  });

  test("a Job whose pod failed unseen is not called never started", () => {
    const failed = job({ active: 0, conditions: { Failed: condition("BackoffLimitExceeded") } });
    expect(kindOf(play([{ kind: "job", job: failed }]))).toMatchObject({ kind: "end-unknown" });
  });

  test("an output file that could not be opened may pass by itself", () => {
    const reported = message({ exitCode: 214, cause: "spawn-failed", error: "EIO: i/o error", bytes: 0, written: 0 });
    expect(notStarted(ended(214, "Error", reported), { phase: "Failed" })).toMatchObject({
      cause: "volume-unusable",
      permanent: false,
      message: expect.stringContaining("EIO"),
    });
  });

  test.each([
    [
      "unable to validate against any security context constraint: [provider restricted-v2: .spec.securityContext.runAsUser: Invalid value: 1000: must be in the ranges: [1000660000, 1000669999]]",
      "a SecurityContextConstraint must allow it for the pods' service account in namespace agents",
    ],
    ['admission webhook "validate.example.com" denied the request: no', "the policy behind webhook validate.example.com must allow it"],
    [
      "cpu max limit to request ratio per Container is 2, but provided ratio is 20.000000",
      "raise resources.requests.cpu or lower resources.limits.cpu (LimitRange of namespace agents)",
    ],
  ])("what a cluster refuses as it stands is not tried again: %s", (reason, remedy) => {
    const text = `Error creating: pods "agent-x" is forbidden: ${reason}`;
    const events = [{ type: "Warning", reason: "FailedCreate", message: text, count: 1, at: null }];
    const state = play(
      [
        { kind: "job", job: job({ active: 0 }) },
        { kind: "events", events },
      ],
      { afterMs: 60_000 },
    );
    expect(kindOf(state)).toMatchObject({ cause: "no-pod", permanent: true, message: expect.stringContaining(remedy) });
  });

  test("the runner's own refusals", () => {
    expect(notStarted(ended(214, "Error", "EROFS"), { phase: "Failed" })).toMatchObject({
      cause: "volume-unusable",
      message: expect.stringContaining("EROFS"),
    });
    const record = endRecord({ exitCode: 127, cause: "spawn-failed", error: "agent-cli not found", bytes: 0, written: 0 });
    expect(kindOf(play([{ kind: "end-record", record }]))).toEqual({
      kind: "never-started",
      cause: "cli-missing",
      message: "agent-cli not found",
      permanent: true,
    });
  });
});
