import { expect, test } from "vitest";
import { createClock } from "../clock.ts";
import { LiveRun } from "../live-run.ts";
import { accepted, pod, running, timeouts, waiting } from "../outcome/testing/example-facts.ts";
import type { RunIo, StatusLine } from "../run-context.ts";
import { logStatus } from "./log-status.ts";

function loggedRun() {
  let now = 2;
  const run = new LiveRun(accepted(), timeouts, createClock({ now: () => now, after: () => () => {} }));
  const texts: string[] = [];
  const lines: StatusLine[] = [];
  const io: RunIo = {
    signal: new AbortController().signal,
    onOutput: async () => {},
    onStderr: async () => {},
    onStatus: (line) => {
      texts.push(line.text);
      lines.push(line);
    },
  };
  const stop = logStatus({ run, io });
  /** Lines are logged a moment after the fact. */
  const logged = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return texts.splice(0);
  };
  const pass = (ms: number) => {
    for (const end = now + ms; now < end; ) {
      now = Math.min(now + 2500, end);
      run.observe({ kind: "tick" });
    }
  };
  return { run, stop, logged, pass, lines };
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

const silences = async ({ logged, pass }: Pick<ReturnType<typeof loggedRun>, "logged" | "pass">, seconds: number): Promise<string[]> => {
  const lines: string[] = [];
  for (let second = 0; second < seconds; second++) {
    pass(1000);
    lines.push(...(await logged()));
  }
  return lines;
};

test("a run without output is said to be alive, less and less often, and at least every 80 s", async () => {
  const { run, logged, pass } = loggedRun();
  run.observe({ kind: "cli-started" });
  await logged();
  expect(await silences({ logged, pass }, 480)).toEqual([30, 90, 170, 250, 330, 410].map((at) => silent("no output yet after", at)));
  run.observe({ kind: "output", bytes: 10, sha256: "" });
  expect(await silences({ logged, pass }, 100)).toEqual([30, 90].map((at) => silent("no output for", at)));
});

const silent = (what: string, seconds: number) => `${what} ${seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`}`;

test("a pod that does not start: the reason once, and no more lines than the host needs", async () => {
  const { run, logged, pass } = loggedRun();
  expect(await silences({ logged, pass }, 31)).toEqual(["not started yet after 30 s"]);
  run.observe({ kind: "pod", pod: pod(waiting("ContainerCreating"), { phase: "Pending" }) });
  await logged();
  run.observe({ kind: "events", events: [{ type: "Warning", reason: "FailedMount", message: "not attached", count: 1, at: null }] });
  const [reason = ""] = await logged();
  expect(reason).toContain("not attached");
  expect(await silences({ logged, pass }, 130)).toEqual([`still not started after 111 s: ${reason}`]);
});

test("only a line about a CLI that has started says that it is silent", async () => {
  const { run, logged, pass, lines } = loggedRun();
  await silences({ logged, pass }, 31);
  run.observe({ kind: "cli-started" });
  await silences({ logged, pass }, 31);
  expect(lines.map(({ text, silence = false }) => [text, silence])).toEqual([
    ["not started yet after 30 s", false],
    [expect.stringContaining("started"), false],
    [expect.stringContaining("no output yet"), true],
  ]);
});

test("the API server's problem is named; nothing is logged after the log is stopped", async () => {
  const { run, stop, logged, pass } = loggedRun();
  run.observe({ kind: "pod", pod: pod(running) });
  run.observe({ kind: "api-lost", error: "the API server does not answer", forPeople: true });
  await logged();
  pass(timeouts.keepalive);
  expect(await logged()).toEqual([expect.stringMatching(/after \d+ s; the API server does not answer$/)]);
  stop();
  pass(timeouts.keepaliveMost * 2);
  expect(await logged()).toEqual([]);
});
