import { describe, expect, test } from "vitest";
import type { ContainerState, ContainerView, PodView } from "../kube/views.ts";
import type { Fact, Observation } from "./observation.ts";
import { condition, container, ended, endRecord, job, kindOf, play, pod, running, waiting } from "./testing/example-facts.ts";
import { replay } from "./testing/replay.ts";

// Containers beside the run's own: what they do is never taken for what the run does.

type End = Extract<ContainerState, { kind: "terminated" }>;
const end = (exitCode: number, reason: string, message: string | null = null) => ended(exitCode, reason, message) as End;
const db = (state: ContainerState, changes: Partial<ContainerView> = {}) => container("db", state, { sidecar: true, ...changes });
const seen = (main: ContainerState | null, init: readonly ContainerView[], changes: Partial<PodView> = {}): Fact => ({
  kind: "pod",
  pod: pod(main, { initContainers: [...init], ...changes }),
});
const starting = (...init: ContainerView[]) => seen(waiting("PodInitializing"), init, { phase: "Pending" });
const at = (ms: number, fact: Fact): Observation => ({ at: ms, ...fact });
const begun: Fact = { kind: "job", job: job() };

describe("before the run's container has started", () => {
  test.each<[string, ContainerView, string]>([
    ["has ended", db(ended(1, "Error", "no space left")), "sidecar container db exited with code 1: no space left"],
    [
      "is waited for after its end",
      db(waiting("CrashLoopBackOff"), { lastEnd: end(137, "OOMKilled") }),
      "sidecar container db exited with code 137 (OOMKilled)",
    ],
    [
      "runs again, and has not started",
      db(running, { started: false, lastEnd: end(0, "Completed") }),
      "sidecar container db exited with code 0",
    ],
  ])("one that %s gets a minute, then it is the run's failure to start", (_, view, why) => {
    expect(play([begun, starting(view)], { afterMs: 59_000 }).outcome).toBeNull();
    expect(kindOf(play([begun, starting(view)], { afterMs: 61_000 }))).toEqual({
      kind: "never-started",
      cause: "init-failed",
      message: `${why}, before the run could start; gave up after 60 s`,
      permanent: false,
    });
  });

  test("the minute counts from its first end, whatever it does in between", () => {
    const crash = starting(db(waiting("CrashLoopBackOff"), { lastEnd: end(1, "Error") }));
    const again = starting(db(running, { started: false, lastEnd: end(1, "Error") }));
    const { state } = replay([at(1000, begun), at(2000, crash), at(20_000, again), at(40_000, crash), at(61_000, again)], {
      untilMs: 63_000,
    });
    expect(state.outcome).toMatchObject({ kind: "never-started", cause: "init-failed" });
  });

  test("one that has done better the second time has done no harm", () => {
    const { state, texts } = replay(
      [
        at(1000, begun),
        at(2000, starting(db(ended(1, "Error", "not yet")))),
        at(20_000, starting(db(running, { lastEnd: end(1, "Error", "not yet") }))),
        at(21_000, seen(running, [db(running, { lastEnd: end(1, "Error", "not yet") })])),
      ],
      { untilMs: 300_000 },
    );
    expect(state.outcome).toBeNull();
    expect(texts).toContain("sidecar container db exited with code 1: not yet; it is tried again");
  });

  test.each<[string, ContainerView, string]>([
    [
      "a sidecar",
      db(waiting("ImagePullBackOff", "not found"), { image: "db:9" }),
      "sidecar container db: image db:9 cannot be pulled: not found; check image",
    ],
    [
      "an init container",
      container("seed", waiting("ErrImagePull", "not found"), { image: "s:9" }),
      "init container seed: image s:9 cannot be pulled: not found",
    ],
    [
      "a variable",
      db(waiting("CreateContainerConfigError", 'secret "x" not found')),
      'sidecar container db: the container cannot be made (CreateContainerConfigError): secret "x" not found',
    ],
  ])("what keeps it from starting is reported under its own name: the image of %s", (_, view, text) => {
    const outcome = kindOf(play([begun, starting(view)], { afterMs: 61_000 }));
    expect(outcome).toMatchObject({ kind: "never-started", cause: "init-failed", message: expect.stringContaining(text) });
  });

  test("one that never gets ready is named when the time is up", () => {
    const outcome = kindOf(play([begun, starting(db(running, { started: false }))], { afterMs: 610_000 }));
    expect(outcome).toMatchObject({
      cause: "init-failed",
      message:
        "sidecar container db has not started within 600 s, and the run's container comes after it: its startup probe has not passed",
    });
    const init = kindOf(play([begun, starting(container("seed", running))], { afterMs: 610_000 }));
    expect(init).toMatchObject({ message: expect.stringContaining("init container seed has not ended within 600 s") });
  });

  test("a cluster without native sidecars is named at once", () => {
    expect(kindOf(play([begun, starting(container("db", running))], { afterMs: 0 }))).toMatchObject({
      cause: "init-failed",
      permanent: true,
      message: expect.stringContaining("this cluster has no native sidecars"),
    });
  });

  test("a Job that is deleted meanwhile was deleted", () => {
    const crash = starting(db(waiting("CrashLoopBackOff"), { lastEnd: end(1, "Error") }));
    const outcome = kindOf(play([begun, crash, { kind: "job-gone" }, { kind: "pod-gone", pod: pod(null, { initContainers: [] }) }]));
    expect(outcome).toMatchObject({ kind: "deleted", what: "job" });
  });
});

describe("while the run's container runs", () => {
  const record: Fact = { kind: "end-record", record: endRecord({ bytes: 0, written: 0 }) };

  test.each<[string, ContainerView]>([
    ["ends", db(ended(1, "Error"))],
    ["is out of memory", db(waiting("CrashLoopBackOff"), { lastEnd: end(137, "OOMKilled") })],
    ["lost its image", db(waiting("ImagePullBackOff", "not found"))],
  ])("one that %s changes nothing about the run", (_, view) => {
    const facts = [begun, seen(running, [db(running)]), seen(running, [view])];
    expect(play(facts, { afterMs: 300_000 }).outcome).toBeNull();
    const { outcome } = play([...facts, record]);
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { memory: { killed: false }, warnings: [] } });
  });

  test("its end is a line of the log, once, with what to change", () => {
    const oom = db(waiting("CrashLoopBackOff"), { lastEnd: end(137, "OOMKilled") });
    const { texts } = replay([
      at(1000, begun),
      at(2000, seen(running, [db(running)])),
      at(3000, seen(running, [oom])),
      at(4000, seen(running, [db(running, { lastEnd: end(137, "OOMKilled") })])),
      at(5000, seen(running, [oom])),
    ]);
    expect(texts.filter((text) => text.includes("sidecar"))).toEqual([
      "sidecar container db exited with code 137 (OOMKilled); it is restarted, and the run goes on; raise its memory limit in the pod template",
    ]);
  });

  test("at the end of the pod they are ended, and nobody speaks of it", () => {
    const { state, texts } = replay([
      at(1000, begun),
      at(2000, seen(running, [db(running)])),
      at(3000, record),
      at(3100, seen(ended(0, "Completed"), [db(running)])),
      at(3200, seen(ended(0, "Completed"), [db(ended(137, "Error"))])),
    ]);
    expect(state.outcome).toMatchObject({ kind: "exited", exitCode: 0 });
    expect(texts.filter((text) => text.includes("sidecar"))).toEqual([]);
  });

  test("the run's own container has ended while they go on: the run has ended, by its own exit code", () => {
    const { outcome } = play([begun, seen(ended(3, "Error"), [db(running)])]);
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 3 });
  });

  test("an eviction names what the run's own container has asked for, whichever is listed first", () => {
    const why = "The node was low on resource: memory. ";
    const { outcome } = play([
      begun,
      {
        kind: "pod",
        pod: pod(null, {
          phase: "Failed",
          reason: "Evicted",
          message: why,
          conditions: { DisruptionTarget: { ...condition("TerminationByKubelet", why), status: "True" } },
          containers: [container("mesh", ended(137, "Error")), container("agent", ended(137, "Error"))],
          resources: { mesh: { "requests.memory": "1Mi" }, agent: { "requests.memory": "1Gi" } },
        }),
      },
    ]);
    expect(outcome).toMatchObject({ kind: "killed", by: "eviction", remedy: "raise resources.requests.memory, now 1Gi" });
  });
});
