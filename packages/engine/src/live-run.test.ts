import { expect, test } from "vitest";
import { createClock } from "./clock.ts";
import { LiveRun } from "./live-run.ts";
import { accepted, delivered, endRecord, pod, running, timeouts } from "./outcome/testing/example-facts.ts";

/** An object that no text can be made of, as JSON from a file can hold it. */
const POISON = JSON.parse('{"toString":1,"valueOf":1}') as string;

function liveRun() {
  let now = 1000;
  const clock = createClock({ now: () => now, after: () => () => {} });
  const run = new LiveRun(accepted(), timeouts, clock);
  const pass = (ms: number) => {
    now += ms;
  };
  return { run, pass };
}

/** Breaks whoever writes a message of it. */
const hostileEnd = { kind: "end-record", record: endRecord({ cause: "spawn-failed", exitCode: 212, error: POISON }) } as const;

test("a fact that cannot be folded ends the run with that as its reason", async () => {
  const { run } = liveRun();
  run.observe(delivered(10));
  run.observe(hostileEnd);
  expect(await run.settled).toMatchObject({
    kind: "end-unknown",
    message: expect.stringMatching(/cannot be read: TypeError: Cannot convert object to primitive value/),
    evidence: { jobName: "agent-worker", output: { delivered: 10, complete: false } },
  });
});

test("a cancel is heard although the run's data cannot be read, and ends the run", async () => {
  const { run, pass } = liveRun();
  const poisoned = { kind: "state-record", record: null as never } as const;
  run.observe({ kind: "cancel-asked", reason: "no longer wanted" });
  expect(run.state.cancel).not.toBeNull();
  for (let second = 0; second <= timeouts.cancel / 1000; second++) {
    run.observe(poisoned);
    pass(1000);
  }
  run.observe(poisoned);
  expect(await run.settled).toMatchObject({ kind: "cancelled", reason: "no longer wanted", stopped: false });
});

test("a listener that throws keeps neither the fact, the other listeners nor the end from the run", async () => {
  const { run } = liveRun();
  const warned = new Promise<Error>((resolve) => void process.once("warning", resolve));
  let heard = 0;
  run.onChange(() => {
    throw new Error("of a listener");
  });
  run.onChange(() => heard++);
  run.observe({ kind: "pod", pod: pod(running) });
  run.observe(delivered(10));
  run.observe({ kind: "end-record", record: endRecord() });
  expect(await run.settled).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(heard).toBe(3);
  expect((await warned).message).toBe("of a listener");
});
