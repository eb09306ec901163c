import { describe, expect, test } from "vitest";
import type { Fact } from "./observation.ts";
import { reduce } from "./reduce.ts";
import {
  accepted,
  condition,
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
} from "./testing/example-facts.ts";

describe("how a run ends", () => {
  test("an end record and its bytes settle at once, whatever the cluster says", () => {
    const state = play([{ kind: "api-lost", error: "down" }, delivered(10), { kind: "end-record", record: endRecord({ exitCode: 3 }) }], {
      afterMs: 0,
    });
    expect(kindOf(state)).toEqual({ kind: "exited", exitCode: 3, signal: null });
    expect(state.outcome?.evidence).toMatchObject({ proof: "end-record", output: { complete: true, delivered: 10 } });
  });

  test("an end record waits for bytes that are on their way", () => {
    const facts: Fact[] = [{ kind: "end-record", record: endRecord() }];
    expect(play(facts, { afterMs: 5000 }).outcome).toBeNull();
    expect(kindOf(play([...facts, delivered(10)], { afterMs: 0 }))).toMatchObject({ kind: "exited", exitCode: 0 });
  });

  test("bytes that never come are said to be missing", () => {
    const state = play([delivered(4), { kind: "end-record", record: endRecord() }]);
    expect(state.outcome?.evidence.output).toMatchObject({ complete: false, delivered: 4, expected: 10 });
  });

  test("without an end record the termination message is used", () => {
    const state = play([delivered(10), { kind: "pod", pod: pod(ended(3, "Error", message({ exitCode: 3 }))) }]);
    expect(kindOf(state)).toEqual({ kind: "exited", exitCode: 3, signal: null });
    expect(state.outcome?.evidence.proof).toBe("termination-message");
  });

  describe("a volume that does not answer at the end", () => {
    const hung = (passes: boolean): Fact[] => [
      { kind: "output-stalled", error: "hung", passes },
      { kind: "pod", pod: pod(ended(9, "Error", message({ exitCode: 9 }))) },
    ];

    test("is waited for, and what it has then is complete", () => {
      const waiting = play(hung(true), { looks: false, afterMs: 100_000 });
      expect(waiting.outcome).toBeNull();
      const back = [{ kind: "output-back" } as const, delivered(10), { kind: "drained", bytes: 10 } as const];
      const state = back.reduce((known, fact) => reduce(known, { at: known.now + 100, ...fact }, timeouts), waiting);
      expect(state.outcome).toMatchObject({ kind: "exited", exitCode: 9, evidence: { output: { complete: true } } });
    });

    test("and comes back is given the time to show what it has", () => {
      const waiting = play(hung(true), { looks: false, afterMs: 100_000 });
      const back = reduce(waiting, { at: waiting.now + 100, kind: "output-back" }, timeouts);
      expect(reduce(back, { at: back.now + 5000, kind: "tick" }, timeouts).outcome).toBeNull();
    });

    test.each([
      ["never again: the result is not held for ever", true, 310_000],
      ["because the file is gone: no time helps", false, 30_000],
    ])("%s", (_, passes, afterMs) => {
      const state = play(hung(passes), { looks: false, afterMs });
      expect(kindOf(state)).toMatchObject({ kind: "exited", exitCode: 9 });
      expect(state.outcome?.evidence.output).toMatchObject({ complete: false, expected: 10, problem: "hung" });
    });

    test("is not waited for by a run that is to be left to the next server", () => {
      const state = play([...hung(true), { kind: "detach-asked", reason: "x" }], { looks: false });
      expect(kindOf(state)).toEqual({ kind: "detached", reason: "x" });
    });

    test("counts as one that may come back, also after a file that could not be read", () => {
      const facts: Fact[] = [{ kind: "output-stalled", error: "gone", passes: false }, ...hung(true)];
      expect(play(facts, { looks: false, afterMs: 100_000 }).outcome).toBeNull();
    });

    test("until after the Job's deadline: the end that was seen is the end", () => {
      let state = play([], { afterMs: timeouts.horizon - 60_000, looks: false });
      for (const fact of hung(true)) state = reduce(state, { at: state.now + 100, ...fact }, timeouts);
      for (let ticks = 0; state.outcome === null && ticks < 1000; ticks++)
        state = reduce(state, { at: state.now + 250, kind: "tick" }, timeouts);
      expect(state.outcome).toMatchObject({ kind: "exited", exitCode: 9, evidence: { proof: "termination-message" } });
    });

    test("does not hold back the end of a cancelled run", () => {
      const state = play([...hung(true), { kind: "cancel-asked", reason: "x" }], { looks: false, afterMs: 30_000 });
      expect(state.outcome).not.toBeNull();
    });
  });

  test("a volume that was slow for a while is no problem of a complete output", () => {
    const slow: Fact[] = [
      delivered(4),
      { kind: "end-record", record: endRecord() },
      { kind: "output-stalled", error: "slow", passes: true },
    ];
    const complete = { complete: true, problem: null };
    expect(play([...slow, delivered(10)], { afterMs: 0 }).outcome?.evidence.output).toMatchObject(complete);
    // Both files were read afterwards, so what is missing is not the volume's fault.
    expect(play(slow).outcome?.evidence.output).toMatchObject({ complete: false, problem: null });
  });

  test("a termination message of another submit is only a log tail", () => {
    const state = play([{ kind: "pod", pod: pod(ended(1, "Error", message({ nonce: "other", exitCode: 0 }))) }]);
    expect(kindOf(state)).toEqual({ kind: "exited", exitCode: 1, signal: null });
    expect(state.outcome?.evidence.proof).toBe("container-state");
  });

  test("Job Complete alone proves nothing", () => {
    const state = play([{ kind: "job", job: job({ active: 0, conditions: { Complete: condition("CompletionsReached") } }) }]);
    expect(kindOf(state)).toMatchObject({ kind: "end-unknown" });
  });

  test("a CLI killed by the kernel: the container's reason comes a moment later", () => {
    const record = endRecord({ exitCode: null, signal: "SIGKILL" });
    const facts: Fact[] = [{ kind: "pod", pod: pod(running) }, delivered(10), { kind: "end-record", record }];
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
      delivered(10),
      { kind: "end-record", record: endRecord({ oomKills: 1 }) },
      { kind: "pod", pod: pod(ended(0, "OOMKilled")) },
    ]);
    expect(kindOf(state)).toEqual({ kind: "exited", exitCode: 0, signal: null });
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
          { afterMs: timeouts.horizon + 1000 },
        ),
      ),
    ).toMatchObject({
      kind: "end-unknown",
    });
  });
});

describe("cancel", () => {
  test("gets its whole time although it was asked for while the Job was still being created", () => {
    const before = reduce({ ...accepted(), followedAt: null }, { at: 10, kind: "cancel-asked", reason: "x" }, timeouts);
    const late = 10 + timeouts.cancel;
    const followed = reduce(before, { at: late, kind: "follow-started" }, timeouts);
    expect(kindOf(followed)).toBeNull();
    const end = late + timeouts.cancel;
    let state = followed;
    for (let at = late; at < end; at += 250) state = reduce(state, { at, kind: "tick" }, timeouts);
    expect(kindOf(state)).toBeNull();
    expect(kindOf(reduce(state, { at: end, kind: "tick" }, timeouts))).toMatchObject({ kind: "cancelled", stopped: false });
  });

  test("waits for the pod to stop, and says so", () => {
    const facts: Fact[] = [
      { kind: "pod", pod: pod(running) },
      { kind: "cancel-asked", reason: "by an operator" },
    ];
    expect(play(facts, { afterMs: 5000 }).outcome).toBeNull();
    const stopped: Fact[] = [...facts, delivered(10), { kind: "end-record", record: endRecord({ exitCode: 143, cause: "stopped" }) }];
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
    const facts: Fact[] = [{ kind: "end-record", record: endRecord() }, { kind: "cancel-asked", reason: "x" }, delivered(10)];
    expect(kindOf(play(facts))).toEqual({ kind: "exited", exitCode: 0, signal: null });
  });
});

describe("a Job that was deleted without its pod", () => {
  const orphaned: Fact[] = [{ kind: "pod", pod: pod(running) }, { kind: "job-gone" }];

  test("is followed to the pod's own end", () => {
    const working = play(orphaned, { afterMs: timeouts.podOutlivesJob * 3 });
    expect(working.outcome).toBeNull();
    const ends: Fact[] = [delivered(10), { kind: "end-record", record: endRecord() }];
    const end = ends.reduce((state, fact) => reduce(state, { at: state.now + 100, ...fact }, timeouts), working);
    expect(kindOf(end)).toMatchObject({ kind: "exited", exitCode: 0 });
  });

  test("an API server that is away for a moment does not make it one that has ended", () => {
    const working = play(orphaned, { afterMs: timeouts.podOutlivesJob * 3 });
    const away = reduce(working, { at: working.now + 100, kind: "api-lost", error: "x" }, timeouts);
    expect(away.endedAt).toBeNull();
    const back = reduce(away, { at: away.now + 1000, kind: "api-back" }, timeouts);
    expect(reduce(back, { at: back.now + 1000, kind: "tick" }, timeouts).endedAt).toBeNull();
  });

  test("a pod that is being deleted with it is not", () => {
    const going: Fact[] = [...orphaned, { kind: "pod", pod: pod(running, { deletedAt: "2026-01-01T00:00:00Z" }) }];
    expect(kindOf(play(going, { afterMs: timeouts.podOutlivesJob * 2 }))).toMatchObject({ kind: "deleted" });
  });
});
