import { describe, expect, test } from "vitest";
import { whyKept } from "../finish/clean-up.ts";
import type { RunContext } from "../run-context.ts";
import type { Fact } from "./observation.ts";
import type { RunState } from "./state.ts";
import { condition, delivered, ended, endRecord, job, kindOf, message, play, pod, running, startRecord } from "./testing/example-facts.ts";

// What has run is never reported as not started, and what is not proved is not removed.

const REFUSED = { exitCode: null, cause: "spawn-failed", bytes: 0, written: 0 } as const;
const ran: Fact[] = [{ kind: "job", job: job() }, { kind: "start-record", record: startRecord }, { kind: "cli-started" }, delivered(500)];
const second = (exitCode: number, said: string): Fact => ({
  kind: "pod",
  pod: pod(ended(exitCode, "Error", said), { uid: "pod-2", name: "agent-worker-zzzzz", phase: "Failed" }),
});
const kept = ({ outcome }: RunState): string | null =>
  outcome === null ? "no outcome" : whyKept({ request: { retain: false } } as unknown as RunContext, outcome);

describe("a second pod of the Job", () => {
  const claimed = message({ ...REFUSED, error: "another pod has already claimed this run" });

  test("that finds it claimed proves that another has run", () => {
    for (const facts of [[...ran, second(213, claimed)], [second(213, claimed)]]) {
      const state = play(facts);
      expect(kindOf(state)).toMatchObject({ kind: "end-unknown", message: expect.stringContaining("another pod of the Job") });
      expect(kept(state)).not.toBeNull();
    }
  });

  test("that finds so late, with its CLI already started, is no deletion", () => {
    expect(kindOf(play([...ran, second(213, message({ exitCode: 143, cause: "stopped" }))]))).toMatchObject({ kind: "end-unknown" });
  });

  test("that fails to start does not undo what the first has done", () => {
    const refusals = [second(214, message({ ...REFUSED, error: "EIO" })), second(128, "no")];
    const stumbled: Fact = { kind: "pod", pod: pod(ended(128, "StartError", "no such file"), { uid: "pod-2", phase: "Failed" }) };
    for (const last of [refusals[0]!, stumbled]) expect(kindOf(play([...ran, last]))).toMatchObject({ kind: "end-unknown" });
  });

  test("does not matter where the end of the first is on record", () => {
    const facts = [...ran, second(213, claimed), { kind: "end-record", record: endRecord({ bytes: 500, written: 500 }) } as const];
    expect(kindOf(play(facts))).toMatchObject({ kind: "exited", exitCode: 0 });
  });

  test("a CLI may exit with the same code", () => {
    const own = message({ exitCode: 213, bytes: 500, written: 500 });
    expect(kindOf(play([...ran, { kind: "pod", pod: pod(ended(213, "Error", own)) }]))).toMatchObject({ kind: "exited", exitCode: 213 });
  });
});

test("a deadline that passed while the volume could not be seen does not prove that nothing ran", () => {
  const late: Fact = { kind: "job", job: job({ active: 0, conditions: { Failed: condition("DeadlineExceeded", "x") } }) };
  const disconnected: Fact = { kind: "output-stalled", error: "no answer", passes: true };
  expect(kindOf(play([disconnected, late], { looks: false }))).toEqual({ kind: "timed-out", by: "deadline", exitCode: null });
  expect(kindOf(play([late]))).toMatchObject({ kind: "never-started", cause: "deadline" });
});

describe("deleted from outside", () => {
  test("what may have been written, and is not proved to be all, is kept", () => {
    expect(kept(play([...ran, { kind: "pod", pod: pod(running) }, { kind: "pod-gone", pod: pod(running) }]))).toMatch(/not proved/);
    const going = pod(running, { deletedAt: "2026-01-01T00:00:00Z" });
    expect(kept(play([...ran, { kind: "pod", pod: going }, { kind: "job-gone" }], { afterMs: 200_000 }))).toMatch(/not proved/);
  });

  test("nothing is kept of what never ran, or is complete", () => {
    const pending = pod(null, { phase: "Pending" });
    expect(
      kept(
        play([
          { kind: "pod", pod: pending },
          { kind: "pod-gone", pod: pending },
        ]),
      ),
    ).toBeNull();
    const record = endRecord({ exitCode: 143, cause: "stopped", bytes: 500, written: 500 });
    const stopping = pod(running, { deletedAt: "2026-01-01T00:00:00Z" });
    expect(kept(play([...ran, { kind: "pod", pod: stopping }, { kind: "end-record", record }]))).toBeNull();
  });
});

describe("a runner that fails", () => {
  const failed = (signal: string | null) =>
    message({ exitCode: null, signal, cause: "runner-failed", bytes: 0, written: 0, error: "the runner failed: TypeError" });
  const last = (signal: string | null): Fact => ({ kind: "pod", pod: pod(ended(215, "Error", failed(signal)), { phase: "Failed" }) });

  test("takes the CLI with it: that is the cause, and all is kept", () => {
    const state = play([...ran, { kind: "pod", pod: pod(running) }, last("SIGKILL")]);
    expect(kindOf(state)).toMatchObject({ kind: "killed", by: "runner", message: "the runner failed: TypeError" });
    expect(state.outcome?.evidence.output).toMatchObject({ delivered: 500, expected: null, complete: false });
    expect(kept(state)).toMatch(/not proved/);
  });

  test("before it had started the CLI has not started it", () => {
    expect(kindOf(play([last(null)]))).toMatchObject({ kind: "never-started", cause: "runner", permanent: false });
  });
});

test("a CLI that cannot be started now may be later, unless it is not there or not to be run", () => {
  const spawn = (code: string) =>
    kindOf(
      play([{ kind: "pod", pod: pod(ended(126, "Error", message({ ...REFUSED, exitCode: 126, error: `cannot run "x" (${code})` }))) }]),
    );
  for (const code of ["EAGAIN", "ENOMEM", "ETXTBSY"]) expect(spawn(code)).toMatchObject({ cause: "start-error", permanent: false });
  for (const code of ["ENOENT", "EACCES", "ENOEXEC"]) expect(spawn(code)).toMatchObject({ cause: "start-error", permanent: true });
});
