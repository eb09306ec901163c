import { describe, expect, test } from "vitest";
import type { ContainerState, PodView } from "../cluster/views.ts";
import { accepted, condition, ended, endRecord, job, message, pod, policy, running, startRecord, waiting } from "./example-facts.ts";
import type { Fact } from "./observation.ts";
import { reduce } from "./reduce.ts";
import type { RunState } from "./state.ts";

/** Folds facts 10 ms apart, then lets time pass in ticks with fresh looks, as the follower does once a run is over. */
function play(facts: readonly Fact[], options: { readonly afterMs?: number; readonly looks?: boolean } = {}): RunState {
  let at = 10;
  let state = accepted();
  for (const fact of facts) {
    at += 10;
    state = reduce(state, { at, ...fact }, policy);
  }
  for (const end = at + (options.afterMs ?? 30_000); at < end && state.outcome === null; ) {
    at += 250;
    state = reduce(state, { at, kind: "tick" }, policy);
    if (options.looks !== false && state.overAt !== null) state = reduce(state, { at, kind: "drained", bytes: state.delivered }, policy);
  }
  return state;
}

const kindOf = (state: RunState) => {
  if (state.outcome === null) return null;
  const { evidence: _, ...kind } = state.outcome;
  return kind;
};

describe("how a run ends", () => {
  test("an end record and its bytes settle at once, whatever the cluster says", () => {
    const state = play(
      [
        { kind: "api-lost", error: "down" },
        { kind: "output", bytes: 10 },
        { kind: "end-record", record: endRecord({ exitCode: 3 }) },
      ],
      { afterMs: 0 },
    );
    expect(kindOf(state)).toEqual({ kind: "exited", exitCode: 3, signal: null });
    expect(state.outcome?.evidence).toMatchObject({ proof: "end-record", output: { complete: true, delivered: 10 } });
  });

  test("an end record waits for bytes that are on their way", () => {
    const facts: Fact[] = [{ kind: "end-record", record: endRecord() }];
    expect(play(facts, { afterMs: 5000 }).outcome).toBeNull();
    expect(kindOf(play([...facts, { kind: "output", bytes: 10 }], { afterMs: 0 }))).toMatchObject({ kind: "exited", exitCode: 0 });
  });

  test("bytes that never come are said to be missing", () => {
    const state = play([
      { kind: "output", bytes: 4 },
      { kind: "end-record", record: endRecord() },
    ]);
    expect(state.outcome?.evidence.output).toMatchObject({ complete: false, delivered: 4, expected: 10 });
  });

  test("without an end record the termination message tells", () => {
    const state = play([
      { kind: "output", bytes: 10 },
      { kind: "pod", pod: pod(ended(3, "Error", message({ exitCode: 3 }))) },
    ]);
    expect(kindOf(state)).toEqual({ kind: "exited", exitCode: 3, signal: null });
    expect(state.outcome?.evidence.proof).toBe("termination-message");
  });

  test("a volume that never answers again does not hold the result", () => {
    const facts: Fact[] = [
      { kind: "output-stalled", error: "hung" },
      { kind: "pod", pod: pod(ended(9, "Error", message({ exitCode: 9, written: 0 }))) },
    ];
    const state = play(facts, { looks: false });
    expect(kindOf(state)).toMatchObject({ kind: "exited", exitCode: 9 });
    expect(state.outcome?.evidence.output).toMatchObject({ complete: false, expected: 10, problem: "hung" });
  });

  test("a termination message of another submit is only a log tail", () => {
    const state = play([{ kind: "pod", pod: pod(ended(1, "Error", message({ nonce: "other", exitCode: 0 }))) }]);
    expect(kindOf(state)).toEqual({ kind: "exited", exitCode: 1, signal: null });
    expect(state.outcome?.evidence.proof).toBe("container-state");
  });

  test("Job Complete alone proves nothing", () => {
    const state = play([{ kind: "job", job: job({ active: 0, conditions: { Complete: condition("CompletionsReached") } }) }]);
    expect(kindOf(state)).toMatchObject({ kind: "lost-sight" });
  });

  test("a CLI killed by the kernel: the container's reason comes a moment later", () => {
    const record = endRecord({ exitCode: null, signal: "SIGKILL" });
    const facts: Fact[] = [
      { kind: "pod", pod: pod(running) },
      { kind: "output", bytes: 10 },
      { kind: "end-record", record },
    ];
    expect(play(facts, { afterMs: 1000 }).outcome).toBeNull();
    expect(kindOf(play([...facts, { kind: "pod", pod: pod(ended(137, "OOMKilled")) }]))).toMatchObject({
      kind: "killed",
      by: "oom",
      exitCode: 137,
    });
    expect(kindOf(play(facts))).toEqual({ kind: "exited", exitCode: null, signal: "SIGKILL" });
  });

  test("the whole container out of memory, no word from the runner", () => {
    const state = play([{ kind: "pod", pod: pod(ended(137, "OOMKilled")) }]);
    expect(kindOf(state)).toMatchObject({ kind: "killed", by: "oom" });
  });

  test("a child out of memory while the CLI exits 0 is an exit of 0", () => {
    const state = play([
      { kind: "output", bytes: 10 },
      { kind: "end-record", record: endRecord({ oomKills: 1 }) },
      { kind: "pod", pod: pod(ended(0, "OOMKilled")) },
    ]);
    expect(kindOf(state)).toEqual({ kind: "exited", exitCode: 0, signal: null });
  });

  test.each([
    ["EvictionByEvictionAPI", "eviction"],
    ["PreemptionByScheduler", "preemption"],
    ["DeletionByTaintManager", "node-loss"],
  ])("%s is told from a deletion", (reason, by) => {
    const disrupted = { DisruptionTarget: { ...condition(reason, "why"), status: "True" } };
    const gone = pod(ended(143, "Error"), { deletedAt: "2026-01-01T00:00:00Z", conditions: disrupted });
    expect(
      kindOf(
        play([
          { kind: "pod", pod: gone },
          { kind: "pod-gone", pod: gone },
        ]),
      ),
    ).toMatchObject({ kind: "killed", by, message: "why" });
  });

  test("a lost node's pod is given up after a while, though its deletion time lies ahead", () => {
    const disrupted = { DisruptionTarget: { ...condition("DeletionByTaintManager", "tainted"), status: "True" } };
    const doomed = pod(running, { deletedAt: "2999-01-01T00:00:00Z", conditions: disrupted });
    expect(play([{ kind: "pod", pod: doomed }], { afterMs: 50_000 }).outcome).toBeNull();
    expect(kindOf(play([{ kind: "pod", pod: doomed }], { afterMs: 70_000 }))).toMatchObject({
      kind: "killed",
      by: "node-loss",
      exitCode: null,
    });
  });

  test("evicted by the kubelet: the pod stays, its container is a guess", () => {
    const evicted = pod(ended(137, "ContainerStatusUnknown"), { phase: "Failed", reason: "Evicted", message: "disk" });
    expect(kindOf(play([{ kind: "pod", pod: evicted }]))).toMatchObject({ kind: "killed", by: "eviction", message: "disk" });
  });

  test("stopped from outside: pod or Job deleted by hand", () => {
    const record = endRecord({ exitCode: 143, cause: "stopped" });
    const stopping = pod(running, { deletedAt: "2026-01-01T00:00:00Z" });
    const facts: Fact[] = [
      { kind: "pod", pod: stopping },
      { kind: "output", bytes: 10 },
      { kind: "end-record", record },
    ];
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

  test("time limit of the runner, and the Job's deadline behind it", () => {
    const byRunner: Fact[] = [
      { kind: "output", bytes: 10 },
      { kind: "end-record", record: endRecord({ exitCode: 143, cause: "timeout" }) },
    ];
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

  test("another run's mark on the Job ends ours as superseded", () => {
    const taken = job({ annotations: { "example.io/run-id": "run-2" } });
    expect(kindOf(play([{ kind: "job", job: taken }], { afterMs: 0 }))).toEqual({ kind: "superseded", byRun: "run-2" });
  });

  test("a Job of the same name with another uid is not ours", () => {
    const stranger = job({ uid: "other", annotations: { "example.io/run-id": "run-9" } });
    expect(
      play(
        [
          { kind: "job", job: job() },
          { kind: "pod", pod: pod(running) },
          { kind: "job", job: stranger },
        ],
        { afterMs: 1000 },
      ).jobGoneAt,
    ).not.toBeNull();
  });

  test("nothing is concluded while the API server cannot be seen", () => {
    const state = play(
      [
        { kind: "pod", pod: pod(running) },
        { kind: "api-lost", error: "down" },
      ],
      { afterMs: 3_600_000 },
    );
    expect(state.outcome).toBeNull();
    expect(
      kindOf(
        play(
          [
            { kind: "pod", pod: pod(running) },
            { kind: "api-lost", error: "down" },
          ],
          { afterMs: policy.horizon + 1000 },
        ),
      ),
    ).toMatchObject({
      kind: "lost-sight",
    });
  });
});

describe("cancel", () => {
  test("waits for the pod to stop, and says so", () => {
    const facts: Fact[] = [
      { kind: "pod", pod: pod(running) },
      { kind: "cancel-asked", reason: "by an operator" },
    ];
    expect(play(facts, { afterMs: 5000 }).outcome).toBeNull();
    const stopped: Fact[] = [
      ...facts,
      { kind: "output", bytes: 10 },
      { kind: "end-record", record: endRecord({ exitCode: 143, cause: "stopped" }) },
    ];
    expect(kindOf(play(stopped, { afterMs: 0 }))).toEqual({ kind: "cancelled", reason: "by an operator", exitCode: 143, stopped: true });
  });

  test("is bounded when nothing answers", () => {
    const state = play(
      [
        { kind: "pod", pod: pod(running) },
        { kind: "cancel-asked", reason: "x" },
      ],
      { afterMs: 60_000 },
    );
    expect(kindOf(state)).toEqual({ kind: "cancelled", reason: "x", exitCode: null, stopped: false });
    expect(state.now).toBeLessThan(45_000);
  });

  test("comes too late for a CLI that has ended", () => {
    const facts: Fact[] = [
      { kind: "end-record", record: endRecord() },
      { kind: "cancel-asked", reason: "x" },
      { kind: "output", bytes: 10 },
    ];
    expect(kindOf(play(facts))).toEqual({ kind: "exited", exitCode: 0, signal: null });
  });
});

describe("pods that do not start", () => {
  const notStarted = (container: ContainerState | null, changes: Partial<PodView> = {}, afterMs = 700_000) =>
    kindOf(
      play(
        [
          { kind: "job", job: job() },
          { kind: "pod", pod: pod(container, { phase: "Pending", ...changes }) },
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
      state = reduce(state, { at, ...pull(at % 10_000 === 0 ? "ErrImagePull" : "ImagePullBackOff") }, policy);
    expect(kindOf(state)).toMatchObject({ cause: "image" });
  });

  test("unschedulable after the configured time, with the scheduler's words", () => {
    const unscheduled = { node: null, conditions: { PodScheduled: { ...condition("Unschedulable", "0/3 nodes"), status: "False" } } };
    expect(notStarted(null, unscheduled, 59_000)).toBeNull();
    expect(notStarted(null, unscheduled)).toMatchObject({ cause: "unschedulable", message: "0/3 nodes" });
  });

  test("config errors, init failures, start errors, no pod at all", () => {
    expect(notStarted(waiting("CreateContainerConfigError", 'secret "x" not found'))).toMatchObject({ cause: "container-config" });
    const init = [{ name: "seed", image: "i", state: ended(5, "Error") }];
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
    expect(kindOf(play([{ kind: "job", job: failed }]))).toMatchObject({ kind: "lost-sight" });
  });

  test("an output file that could not be opened may pass by itself", () => {
    const told = message({ exitCode: 214, cause: "spawn-failed", error: "EIO: i/o error", bytes: 0, written: 0 });
    expect(notStarted(ended(214, "Error", told), { phase: "Failed" })).toMatchObject({
      cause: "volume-unusable",
      permanent: false,
      message: expect.stringContaining("EIO"),
    });
  });

  test("the runner's own refusals", () => {
    expect(notStarted(ended(213, "Error"), { phase: "Failed" })).toMatchObject({ kind: "never-started", cause: "runner" });
    expect(notStarted(ended(214, "Error", "EROFS"), { phase: "Failed" })).toMatchObject({
      cause: "volume-unusable",
      message: expect.stringContaining("EROFS"),
    });
    const record = endRecord({ exitCode: 127, cause: "spawn-failed", error: "agent-cli not found", bytes: 0, written: 0 });
    expect(kindOf(play([{ kind: "end-record", record }]))).toEqual({
      kind: "never-started",
      cause: "start-error",
      message: "agent-cli not found",
      permanent: true,
    });
  });
});
