import { expect, test } from "vitest";
import { createClock } from "../clock.ts";
import { LiveRun } from "../live-run.ts";
import { accepted, pod, running, timeouts } from "../outcome/testing/example-facts.ts";
import type { RunIo } from "../run-context.ts";
import { logStatus } from "./log-status.ts";

function loggedRun() {
  let now = 1000;
  const run = new LiveRun(accepted(), timeouts, createClock({ now: () => now, after: () => () => {} }));
  const texts: string[] = [];
  const io: RunIo = {
    signal: new AbortController().signal,
    onOutput: async () => {},
    onStderr: async () => {},
    onStatus: ({ text }) => void texts.push(text),
  };
  const stop = logStatus({ run, io });
  /** Lines are logged a moment after the fact. */
  const logged = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return texts.splice(0);
  };
  const pass = (ms: number) => {
    now += ms;
    run.observe({ kind: "tick" });
  };
  return { run, stop, logged, pass };
}

test("data that no line can be made of costs its own line, and the run goes on", async () => {
  const { run, logged } = loggedRun();
  const at = JSON.parse('{"toString":1,"valueOf":1}') as string;
  const point = { generation: "g", at, bytes: 1, version: null };
  run.observe({ kind: "state-record", record: { type: "state", at: "", act: "restored", point, ms: 1 } });
  expect(await logged()).toEqual([expect.stringContaining("a change of the run cannot be described: TypeError")]);
  run.observe({ kind: "cancel-asked", reason: "no longer wanted" });
  expect(await logged()).toEqual(["cancelling: no longer wanted"]);
  expect(run.state.outcome).toBeNull();
});

test("a run without output is said to be alive once per interval, with the API server's problem; not after it is stopped", async () => {
  const { run, stop, logged, pass } = loggedRun();
  run.observe({ kind: "pod", pod: pod(running) });
  await logged();
  pass(timeouts.keepalive);
  expect(await logged()).toEqual([expect.stringMatching(/no output yet for \d+ s$/)]);
  pass(timeouts.keepalive / 2);
  expect(await logged()).toEqual([]);
  run.observe({ kind: "api-lost", error: "the API server does not answer", forPeople: true });
  await logged();
  pass(timeouts.keepalive / 2);
  expect(await logged()).toEqual([expect.stringMatching(/no output yet for \d+ s; the API server does not answer$/)]);
  stop();
  pass(timeouts.keepalive * 2);
  expect(await logged()).toEqual([]);
});
