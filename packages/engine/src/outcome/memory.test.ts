import { expect, test } from "vitest";
import { quantity } from "./memory.ts";
import type { Fact, Observation } from "./observation.ts";
import { delivered, ended, endRecord, kindOf, pod, running } from "./testing/example-facts.ts";
import { replay } from "./testing/replay.ts";

const MI = 1024 ** 2;
const limited = { resources: { agent: { "requests.memory": "256Mi", "limits.memory": "512Mi" } } };
const full = { oomKills: 1, peakMemoryBytes: 512 * MI, memoryLimitBytes: 512 * MI };
const run = (...facts: Fact[]) => replay(facts.map((fact, place): Observation => ({ at: 1000 + place, ...fact })));
const started: Fact = { kind: "pod", pod: pod(running, limited) };
const output: Fact = delivered(10);

test("the CLI itself killed: limit, peak and what to raise", () => {
  const { state } = run(started, output, { kind: "end-record", record: endRecord({ ...full, exitCode: null, signal: "SIGKILL" }) });
  expect(kindOf(state)).toEqual({
    kind: "killed",
    by: "oom",
    message: "out of memory: OOMKilled, limit 512Mi, peak 512Mi",
    remedy: "raise resources.limits.memory, now 512Mi",
    exitCode: 137,
  });
});

test("only a child killed, and the CLI went on to succeed: a success with a warning in log and result", () => {
  const { state, texts } = run(started, output, { kind: "end-record", record: endRecord({ ...full, oomKills: 2 }) });
  const warning =
    "2 processes of the run were killed for lack of memory (limit 512Mi, peak 512Mi); raise resources.limits.memory, now 512Mi";
  expect(kindOf(state)).toEqual({ kind: "exited", exitCode: 0, signal: null });
  expect(state.outcome?.evidence).toMatchObject({ warnings: [warning], memory: { killed: true, oomKills: 2 } });
  expect(texts.filter((text) => text === warning)).toHaveLength(1);
});

test("without the runner's figures the container's state and the pod's limit are used", () => {
  const { state } = run(started, { kind: "pod", pod: pod(ended(137, "OOMKilled"), limited) });
  expect(kindOf(state)).toMatchObject({
    message: "out of memory: OOMKilled, limit 512Mi",
    remedy: "raise resources.limits.memory, now 512Mi",
  });
});

test("without a pod to look at, the cgroup's limit", () => {
  const { state } = run(output, { kind: "end-record", record: endRecord({ ...full, exitCode: 137 }) });
  expect(kindOf(state)).toMatchObject({ remedy: "raise resources.limits.memory, now 512Mi" });
});

test("killed far below its limit: the node ran out, and a higher limit would not help", () => {
  const record = endRecord({ ...full, peakMemoryBytes: 100 * MI, exitCode: 137 });
  expect(kindOf(run(started, output, { kind: "end-record", record }).state)).toMatchObject({
    message: "out of memory: OOMKilled, limit 512Mi, peak 100Mi",
    remedy: "the node itself ran out of memory: raise resources.requests.memory, now 256Mi",
  });
});

test("nothing killed, nothing said", () => {
  const { state } = run(started, output, { kind: "end-record", record: endRecord({ ...full, oomKills: 0 }) });
  expect(state.outcome?.evidence).toMatchObject({ warnings: [], memory: { killed: false, remedy: null } });
});

test.each([
  [0, "0"],
  [1536, "1.5Ki"],
  [128 * MI, "128Mi"],
  [600 * MI + 7, "600Mi"],
  [2.25 * 1024 ** 3, "2.3Gi"],
])("%i bytes", (bytes, text) => expect(quantity(bytes)).toBe(text));
