import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EventView } from "../kube/views.ts";
import type { Fact, Observation } from "../outcome/observation.ts";
import { reduce } from "../outcome/reduce.ts";
import type { RunState } from "../outcome/state.ts";
import {
  accepted,
  asked,
  condition,
  ended,
  endRecord,
  job,
  message,
  pod,
  running,
  timeouts,
  waiting,
} from "../outcome/testing/example-facts.ts";
import { replay } from "../outcome/testing/replay.ts";
import { createStatusLog } from "./status-lines.ts";

const LONG = process.env.LONG ? 100 : 1;
const event = (reason: string, text: string, type = "Warning"): EventView => ({ type, reason, message: text, count: 1, at: null });
const at = (ms: number, fact: Fact): Observation => ({ at: ms, ...fact });
const creating = pod(waiting("ContainerCreating"), { phase: "Pending" });
const unscheduled = (text: string) =>
  pod(null, { phase: "Pending", node: null, conditions: { PodScheduled: { ...condition("Unschedulable", text), status: "False" } } });
const SYNC = 'MountVolume.SetUp failed for volume "in" : failed to sync secret cache: timed out waiting for the condition';

describe("mounts", () => {
  const stuck = [at(100, { kind: "job", job: job() }), at(200, { kind: "pod", pod: creating })];

  test("one that fails for a while and passes ends nothing, and is reported once", () => {
    const { state, texts } = replay(
      [
        ...stuck,
        at(3000, { kind: "events", events: [event("FailedMount", SYNC)] }),
        at(8000, { kind: "events", events: [{ ...event("FailedMount", SYNC), count: 4 }] }),
        at(400_000, { kind: "pod", pod: pod(running) }),
      ],
      { untilMs: 1_300_000 },
    );
    expect(state.outcome).toBeNull();
    expect(texts.filter((text) => text.includes("failed to sync"))).toEqual([
      'a volume is not mounted yet: volume "in": failed to sync secret cache: timed out waiting for the condition',
    ]);
  });

  test("one that passed before the image was pulled is not blamed for the time after it", () => {
    const past = [event("FailedMount", SYNC), event("Pulling", 'Pulling image "a"', "Normal")];
    const { state } = replay([...stuck, at(3000, { kind: "events", events: past })]);
    expect(state.outcome).toMatchObject({ cause: "container-config", message: expect.stringContaining("no event says why") });
    const ready = pod(waiting("ContainerCreating"), {
      phase: "Pending",
      conditions: { PodReadyToStartContainers: { ...condition(""), status: "True" } },
    });
    const events: Fact = {
      kind: "events",
      events: [event("FailedMount", 'MountVolume.SetUp failed for volume "s" : secret "x" not found')],
    };
    expect(replay([...stuck, at(3000, events), at(4000, { kind: "pod", pod: ready })], { untilMs: 300_000 }).state.outcome).toBeNull();
  });

  test("a volume that stays attached elsewhere fails after the timeout for starts", () => {
    const multi = event("FailedAttachVolume", 'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) other-1');
    const { state } = replay([...stuck, at(3000, { kind: "events", events: [multi] })]);
    expect(state.outcome).toMatchObject({
      cause: "volume-mount",
      message: expect.stringContaining("must be ReadWriteMany; gave up after 600 s"),
    });
  });
});

describe("waiting for a node", () => {
  test("the scheduler's and the autoscaler's words as they change, once each; the refusal stands in the result", () => {
    const none = "0/3 nodes are available: 3 Insufficient memory. preemption: 0/3 nodes are available: 3 No preemption victims found.";
    const events = [event("FailedScheduling", none), event("TriggeredScaleUp", "pod triggered scale-up: [a 1->2 (max: 2)]", "Normal")];
    const refused = event("NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached", "Normal");
    const sized = { ...unscheduled(none), resources: { agent: { "requests.memory": "64Gi" } } };
    const { state, texts } = replay([
      at(100, { kind: "pod", pod: sized }),
      at(3000, { kind: "events", events }),
      at(8000, { kind: "events", events: [...events, refused] }),
      at(18_000, { kind: "events", events: [...events, { ...refused, count: 3 }] }),
    ]);
    expect(texts.slice(1)).toEqual([
      "pod not scheduled yet: 0/3 nodes are available: 3 Insufficient memory; lower resources.requests.memory, now 64Gi, or add a node",
      "the autoscaler adds a node: [a 1->2 (max: 2)]",
      "the autoscaler adds no node: 1 max node group size reached",
    ]);
    expect(state.outcome).toMatchObject({ message: expect.stringContaining("the autoscaler adds no node: 1 max node group size reached") });
  });

  test("an unbound claim is named", () => {
    const unbound = { ...unscheduled("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."), claims: ["data"] };
    expect(replay([at(100, { kind: "pod", pod: unbound })]).texts.at(-1)).toContain("claim data is not bound");
  });

  test("a deadline that comes first says what the pod waited for", () => {
    const late: Fact = { kind: "job", job: job({ conditions: { FailureTarget: condition("DeadlineExceeded") } }) };
    const gone = unscheduled("0/1 nodes are available: 1 Insufficient cpu.");
    const { state } = replay([at(100, { kind: "pod", pod: gone }), at(5000, { kind: "pod-gone", pod: gone }), at(6000, late)]);
    expect(state.outcome).toMatchObject({
      kind: "never-started",
      cause: "deadline",
      message: expect.stringMatching(/^the Job's deadline passed before its container started: no node took the pod: .*Insufficient cpu/),
    });
  });

  test("a container killed unseen at the deadline is not taken for one that ran, nor the other way round", () => {
    const late: Fact = { kind: "job", job: job({ conditions: { FailureTarget: condition("DeadlineExceeded") } }) };
    const guess = pod(ended(137, "ContainerStatusUnknown"), { phase: "Failed" });
    const pulling = pod(waiting("ErrImagePull", "no such host"), { phase: "Pending" });
    const never = [at(100, { kind: "pod", pod: pulling }), at(5000, late), at(5001, { kind: "pod", pod: guess })];
    expect(replay(never).state.outcome).toMatchObject({
      kind: "never-started",
      cause: "deadline",
      message: expect.stringContaining("container started: image localhost/agent:1 cannot be pulled: no such host"),
    });
    const ran = [at(100, { kind: "pod", pod: pod(running) }), at(5000, late), at(5001, { kind: "pod", pod: guess })];
    expect(replay(ran).state.outcome).toMatchObject({ kind: "timed-out", by: "deadline" });
  });
});

describe("any order of troubles", () => {
  const anyPod = fc.constantFrom(
    creating,
    unscheduled("0/1 nodes are available: 1 Insufficient cpu."),
    unscheduled("0/2 nodes are available: 2 Insufficient cpu."),
    pod(waiting("ErrImagePull", 'failed to pull and unpack image "agent:1": not found'), { phase: "Pending" }),
    pod(
      waiting("ImagePullBackOff", 'Back-off pulling image "agent:1": ErrImagePull: failed to pull and unpack image "agent:1": not found'),
      {
        phase: "Pending",
      },
    ),
    pod(waiting("CreateContainerConfigError", 'secret "x" not found'), { phase: "Pending" }),
    pod(running),
    pod(ended(0, "OOMKilled", message({ oomKills: 1 }))),
  );
  const anyEvents = fc.subarray([
    event("FailedMount", SYNC),
    event("FailedCreate", 'Error creating: pods "a-x1" is forbidden: exceeded quota: q'),
    event("FailedCreate", 'Error creating: pods "a-y2" is forbidden: exceeded quota: q'),
    event("NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max", "Normal"),
    event("Failed", "Error: ErrImagePull"),
    event("NetworkNotReady", "network is not ready"),
  ]);
  const anyFact: fc.Arbitrary<Fact> = fc.oneof(
    { weight: 3, arbitrary: anyPod.map((view): Fact => ({ kind: "pod", pod: view })) },
    { weight: 3, arbitrary: anyEvents.map((events): Fact => ({ kind: "events", events })) },
    { weight: 1, arbitrary: fc.constantFrom<Fact>({ kind: "job", job: job({ active: 0 }) }, { kind: "tick" }) },
    { weight: 1, arbitrary: fc.constant<Fact>({ kind: "end-record", record: endRecord({ oomKills: 1 }) }) },
  );

  test("no line follows itself, and no diagnosis is reported twice in a row", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 4000 }), anyFact), { maxLength: 25 }), (steps) => {
        let now = 0;
        const facts = steps.map(([wait, fact]) => {
          now += wait;
          return at(now, fact);
        });
        const { lines } = replay(facts, { untilMs: now + 5000 });
        const warnings = lines.filter((line) => line.level === "warning").map((line) => line.text);
        for (const list of [lines.map((line) => line.text), warnings])
          for (const [place, text] of list.entries()) expect(text).not.toBe(list[place - 1]);
      }),
      { numRuns: 500 * LONG },
    );
  });
});

test("a run that was taken over is reported as one: neither its pod nor its CLI is new", () => {
  const begun = accepted();
  const before = { ...begun, identity: { ...begun.identity, runId: "run-2", firstRun: "run-1", adopted: true } };
  const seen = reduce(before, { at: 10, kind: "pod", pod: pod(running) }, timeouts);
  const after = reduce(seen, { at: 20, kind: "cli-started" }, timeouts);
  const lines = createStatusLog();
  const texts = [...lines(before, seen), ...lines(seen, after)].map(({ text }) => text);
  expect(texts).toEqual(["its pod is …-abcde", "container running", "CLI started by run run-1"]);
});

describe("a node that does not report", () => {
  const conditions = (ready: string) => ({
    Ready: { ...condition(""), status: ready },
    ContainersReady: { ...condition(""), status: "True" },
  });
  const lost = pod(running, { conditions: conditions("False") });
  const back = pod(running, { conditions: conditions("True") });
  const blamed = (texts: readonly string[]) => texts.filter((text) => text.includes("node node1"));

  test("is named at once, and when it reports again", () => {
    const { texts } = replay(
      [at(100, { kind: "pod", pod: back }), at(5000, { kind: "pod", pod: lost }), at(60_000, { kind: "pod", pod: back })],
      { untilMs: 90_000 },
    );
    expect(blamed(texts)).toEqual(["node node1 does not answer; the pod may still run there, waiting", "node node1 answers again"]);
  });

  test("is not blamed for what the API server did: it gets time to report after an outage", () => {
    const outage = [
      at(100, { kind: "pod", pod: back }),
      at(10_000, { kind: "api-lost", error: "silent" }),
      at(50_000, { kind: "api-back" }),
      at(50_500, { kind: "pod", pod: lost }),
    ];
    expect(blamed(replay([...outage, at(62_000, { kind: "pod", pod: back })], { untilMs: 120_000 }).texts)).toEqual([]);
    expect(blamed(replay(outage, { untilMs: 79_000 }).texts)).toEqual([]);
    expect(blamed(replay(outage, { untilMs: 120_000 }).texts)).toHaveLength(1);
  });
});

test("of a run without a Job it is not said that it goes on", () => {
  const line = (before: RunState) =>
    createStatusLog()(before, reduce(before, { at: 10, kind: "api-lost", error: "not allowed", forPeople: true }, timeouts));
  expect(line(asked())).toEqual([{ level: "warning", text: "not allowed; retrying" }]);
  expect(line(accepted())).toEqual([{ level: "warning", text: "not allowed; the run goes on, retrying" }]);
});
