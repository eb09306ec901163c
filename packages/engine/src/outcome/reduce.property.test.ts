import type { TerminationMessage } from "@paperclip-k8s/runner";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ContainerState, ContainerView, JobView, PodView } from "../kube/views.ts";
import type { Fact, Observation, StartProblem } from "./observation.ts";
import { reduce } from "./reduce.ts";
import type { RunState } from "./state.ts";
import {
  accepted,
  asked,
  condition,
  container,
  delivered,
  ended,
  endRecord,
  job,
  message,
  pod,
  running,
  startRecord,
  timeouts,
  waiting,
} from "./testing/example-facts.ts";

/** `npm run test:long` tries many more orders. */
const LONG = process.env.LONG ? 100 : 1;

const anyContainer: fc.Arbitrary<ContainerState | null> = fc.oneof(
  fc.constant(null),
  fc.constant(running),
  fc.constantFrom("ContainerCreating", "ErrImagePull", "ImagePullBackOff", "CreateContainerConfigError").map((reason) => waiting(reason)),
  fc
    .tuple(
      fc.constantFrom(0, 1, 3, 137, 143, 213),
      fc.constantFrom("Completed", "Error", "OOMKilled", "ContainerStatusUnknown"),
      fc.boolean(),
      fc.constantFrom(0, 1),
    )
    .map(([code, reason, withMessage, reported]) => ended(code, reason, withMessage ? message({ exitCode: reported }) : null)),
);
const anyPod: fc.Arbitrary<PodView> = fc
  .record({
    container: anyContainer,
    phase: fc.constantFrom("Pending", "Running", "Succeeded", "Failed"),
    deletedAt: fc.constantFrom(null, "1970-01-01T00:00:01Z"),
    node: fc.constantFrom(null, "node1"),
    jobUid: fc.constantFrom("job-uid", "job-uid", "other"),
    disrupted: fc.constantFrom(null, "EvictionByEvictionAPI", "DeletionByTaintManager"),
    initContainers: fc.constantFrom<ContainerView[]>(
      [],
      [],
      [container("db", running, { sidecar: true })],
      [container("db", waiting("CrashLoopBackOff"), { sidecar: true, lastEnd: null })],
      [container("db", ended(137, "OOMKilled"), { sidecar: true })],
      [container("seed", ended(0, "Completed")), container("db", running, { sidecar: true, started: false })],
    ),
  })
  .map(({ container, disrupted, ...changes }) =>
    pod(container, { ...changes, conditions: disrupted === null ? {} : { DisruptionTarget: { ...condition(disrupted), status: "True" } } }),
  );
const anyJob: fc.Arbitrary<JobView> = fc
  .record({
    uid: fc.constantFrom("job-uid", "job-uid", "other"),
    active: fc.constantFrom(0, 1),
    type: fc.constantFrom(null, "Complete", "Failed", "FailureTarget"),
    owner: fc.constantFrom("run-1", "run-1", "run-1", "run-2"),
  })
  .map(({ uid, active, type, owner }) =>
    job({
      uid,
      active,
      annotations: { "example.io/run-id": owner },
      conditions: type === null ? {} : { [type]: condition("DeadlineExceeded") },
    }),
  );
const anyFact: fc.Arbitrary<Fact> = fc.oneof(
  anyPod.map((view): Fact => ({ kind: "pod", pod: view })),
  anyPod.map((view): Fact => ({ kind: "pod-gone", pod: view })),
  anyJob.map((view): Fact => ({ kind: "job", job: view })),
  fc.constantFrom<Fact>(
    { kind: "job-gone" },
    { kind: "api-lost", error: "x" },
    { kind: "api-back" },
    { kind: "start-record", record: startRecord },
    { kind: "cli-started" },
    { kind: "output-stalled", error: "x", passes: true },
    { kind: "output-stalled", error: "x", passes: false },
    { kind: "output-back" },
    { kind: "cancel-asked", reason: "x" },
    { kind: "detach-asked", reason: "x" },
    { kind: "follow-started" },
    { kind: "tick" },
    { kind: "end-record", record: endRecord() },
    { kind: "end-record", record: endRecord({ exitCode: 1 }) },
    { kind: "end-record", record: endRecord({ exitCode: 143, cause: "stopped" }) },
  ),
  fc.nat({ max: 12 }).map((bytes): Fact => delivered(bytes)),
  fc.nat({ max: 12 }).map((bytes): Fact => ({ kind: "drained", bytes })),
);
const error = fc.record({ message: fc.constantFrom("x", "exceeded quota: q"), status: fc.constantFrom(null, 403, 404, 422, 500) });
const by = fc.record({ job: fc.constant("other"), runId: fc.constantFrom(null, "run-0"), ours: fc.boolean(), sameKey: fc.boolean() });
const anyProblem: fc.Arbitrary<StartProblem> = fc.oneof(
  error.map((facts): StartProblem => ({ kind: "volume-unusable", root: "/data", error: facts })),
  error.map((facts): StartProblem => ({ kind: "access-denied", error: facts })),
  error.map((facts): StartProblem => ({ kind: "claim-failed", claim: "own", error: facts })),
  fc.tuple(fc.boolean(), error).map(([unknown, facts]): StartProblem => ({ kind: "create-rejected", unknown, error: facts })),
  fc
    .tuple(by, fc.boolean(), error)
    .map(([job, unknown, facts]): StartProblem => ({ kind: "takeover-failed", by: job, unknown, error: facts })),
  fc.tuple(by, fc.boolean()).map(([job, decided]): StartProblem => {
    return { kind: "lock-taken", by: job, waitedMs: 1000, decision: decided ? { code: "c", message: "m" } : null };
  }),
  by.map((job): StartProblem => ({ kind: "output-unknown", by: job, root: "/data" })),
  error.map((facts): StartProblem => ({ kind: "conflict-not-removed", job: "other", started: true, error: facts })),
  error.map((facts): StartProblem => ({ kind: "secret-rejected", secret: "s", error: facts })),
  fc.constantFrom<StartProblem>(
    { kind: "claim-missing", claim: "own" },
    { kind: "claim-unusable", claim: "own", why: "lost" },
    { kind: "volume-ownership-failed", claim: "own", user: "1:1", why: "x", failed: false },
    { kind: "jobs-not-listed", waitedMs: 1000 },
  ),
);
/** What the phases up to the Job observe, in any order. */
const anyStart: fc.Arbitrary<Fact> = fc.oneof(
  anyProblem.map((problem): Fact => ({ kind: "start-problem", problem })),
  anyJob.map((view): Fact => ({ kind: "job-accepted", job: view })),
  anyJob.map((view): Fact => {
    const files = asked().identity.files;
    return {
      kind: "job-adopted",
      adoption: { job: view, fromRun: "run-0", firstRun: "run-0", nonce: "n", files },
      records: asked().identity.records,
    };
  }),
  fc.tuple(fc.constantFrom(null, "a", "b"), fc.boolean()).map(([job, mayWork]): Fact => ({ kind: "orphan", job, mayWork })),
  fc.constantFrom<Fact>(
    { kind: "lock-free" },
    { kind: "left-before-job" },
    { kind: "cancel-asked", reason: "cancel" },
    { kind: "detach-asked", reason: "detach" },
    { kind: "api-lost", error: "x" },
    { kind: "api-back" },
    { kind: "tick" },
  ),
);

const historyOf = (facts: fc.Arbitrary<Fact>): fc.Arbitrary<Observation[]> =>
  fc.array(fc.tuple(fc.nat({ max: 20_000 }), facts), { maxLength: 30 }).map((steps) => {
    let at = 10;
    return steps.map(([wait, fact]) => {
      at += wait;
      return { at, ...fact };
    });
  });
const anyHistory = historyOf(anyFact);
const anyBeginning = historyOf(anyStart);

function saysExitZero(seen: Observation): boolean {
  if (seen.kind === "end-record") return seen.record.exitCode === 0;
  if (seen.kind !== "pod" && seen.kind !== "pod-gone") return false;
  const state = seen.pod.containers[0]?.state;
  if (seen.pod.jobUid !== "job-uid" || state?.kind !== "terminated") return false;
  return state.exitCode === 0 || (state.message !== null && (JSON.parse(state.message) as TerminationMessage).exitCode === 0);
}

describe("any order of facts", () => {
  test("one outcome, once; 'exited 0' only if an end record, a termination message or a container state says so", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        let state = accepted();
        let first: RunState["outcome"] = null;
        for (const seen of history) {
          state = reduce(state, seen, timeouts);
          first ??= state.outcome;
          expect(state.outcome).toBe(first);
        }
        if (first?.kind === "exited" && first.exitCode === 0) expect(history.some(saysExitZero)).toBe(true);
      }),
      { numRuns: 3000 * LONG },
    );
  });

  test("before the Job has started: one outcome, once; a problem ends the run unless the caller has asked to leave; stopped only without an agent that may work", () => {
    fc.assert(
      fc.property(anyBeginning, (history) => {
        let state = asked();
        const mayWork = new Set<string | null>();
        for (const seen of history) {
          const before = state;
          state = reduce(before, seen, timeouts);
          if (seen.kind === "orphan") mayWork[seen.mayWork ? "add" : "delete"](seen.job);
          if (seen.kind === "job-accepted") mayWork.clear();
          if (before.outcome !== null) {
            expect(state.outcome).toBe(before.outcome);
            continue;
          }
          const ends = seen.kind === "start-problem" || (seen.kind === "left-before-job" && before.acceptedAt === null);
          const kind = state.outcome?.kind;
          if (ends && before.cancel !== null) expect(state.outcome).toMatchObject({ kind: "cancelled", stopped: mayWork.size === 0 });
          else if (ends && before.detach !== null && before.acceptedAt === null) expect(kind).toBe("detached");
          else if (seen.kind === "start-problem") expect(kind).toMatch(/^(never-started|blocked)$/);
          // Nothing has run, so nothing has exited.
          expect(kind).not.toBe("exited");
          // A Job without its Secret is not left alone, and one that may just be made is not forgotten.
          if (kind === "detached") expect(state.acceptedAt).toBeNull();
          if (!ends) expect(kind).toBeUndefined();
        }
      }),
      { numRuns: 3000 * LONG },
    );
  });

  test("time alone brings every history to an outcome", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        let state = accepted();
        for (const seen of history) state = reduce(state, seen, timeouts);
        const last = history.at(-1)?.at ?? 10;
        // A leap of time is a standstill, after which nothing is decided for a while.
        for (const late of [0, timeouts.horizon, timeouts.horizon + timeouts.missing * 3])
          for (const then of [0, timeouts.staleView]) state = reduce(state, { at: last + late + then, kind: "tick" }, timeouts);
        // Nor does it count for a cancel.
        for (let waited = 0; waited <= timeouts.cancel; waited += timeouts.standstill / 2)
          state = reduce(state, { at: state.now + timeouts.standstill / 2, kind: "tick" }, timeouts);
        expect(state.outcome).not.toBeNull();
      }),
      { numRuns: 1000 * LONG },
    );
  });
});
