import { type EndRecord, type StartRecord, sign, type TerminationMessage } from "@paperclip-k8s/runner";
import type { ContainerState, JobView, PodView } from "../../kube/views.ts";
import { buildSubmission } from "../../manifest/submission.ts";
import { exampleRequest } from "../../manifest/testing/example-request.ts";
import { runFiles } from "../../request.ts";
import { timeoutsFor } from "../../timeouts.ts";
import type { Fact } from "../observation.ts";
import { reduce } from "../reduce.ts";
import { initialState, type RunState } from "../state.ts";

// Facts of a made-up run, for the reducer's tests.

const NONCE = "0123456789abcdef01234567";
export const timeouts = timeoutsFor(exampleRequest(), buildSubmission(exampleRequest(), NONCE, "runner"));
/** Of this run's records. */
export const KEY: Buffer = Buffer.alloc(32, 7);
const identity = {
  runId: "run-1",
  runIdKey: "example.io/run-id",
  adoptedFromKey: "example.io/adopted-from",
  nonce: NONCE,
  namespace: "agents",
  jobName: "agent-worker",
  jobUid: "job-uid",
  files: runFiles("/data/logs/run-1.ndjson"),
  firstRun: "run-1",
  records: { kind: "signed", key: KEY } as const,
  adopted: false,
  container: "agent",
  image: "agent:1",
  program: "node",
};

/** Nothing has been made for the run yet. */
export function asked(): RunState {
  return initialState({ ...identity, jobUid: null }, 0);
}

export function accepted(): RunState {
  return { ...initialState(identity, 0), admittedAt: 1, acceptedAt: 2, followedAt: 3 };
}

export function job(changes: Partial<JobView> = {}): JobView {
  return {
    name: "agent-worker",
    uid: "job-uid",
    resourceVersion: "1",
    labels: {},
    annotations: { "example.io/run-id": "run-1" },
    createdAt: null,
    deletedAt: null,
    active: 1,
    suspended: false,
    deadlineSeconds: 4275,
    image: "agent:1",
    conditions: {},
    ...changes,
  };
}

export function pod(state: ContainerState | null, changes: Partial<PodView> = {}): PodView {
  return {
    name: "agent-worker-abcde",
    uid: "pod-uid",
    jobName: "agent-worker",
    jobUid: "job-uid",
    node: "node1",
    createdAt: null,
    deletedAt: null,
    phase: "Running",
    reason: null,
    message: null,
    conditions: {},
    containers: state === null ? [] : [{ name: "agent", image: "agent:1", imageId: null, state }],
    initContainers: [],
    resources: {},
    claims: [],
    ...changes,
  };
}

export const running: ContainerState = { kind: "running", startedAt: null };
export const waiting = (reason: string, message: string | null = null): ContainerState => ({ kind: "waiting", reason, message });
export function ended(exitCode: number, reason: string, message: string | null = null): ContainerState {
  return { kind: "terminated", exitCode, signal: null, reason, message, startedAt: null, finishedAt: null };
}
export const condition = (reason: string, message: string | null = null) => ({ reason, message, at: null });

/** Stands for the hash of this many bytes of the run's output. */
export const sha256Of = (bytes: number): string => bytes.toString(16).padStart(64, "0");
export const delivered = (bytes: number): Fact => ({ kind: "output", bytes, sha256: sha256Of(bytes) });

export function endRecord(changes: Partial<EndRecord> = {}): EndRecord {
  return {
    type: "end",
    at: "2026-01-01T00:00:00.000Z",
    exitCode: 0,
    signal: null,
    cause: "exit",
    bytes: 10,
    written: 10,
    outputSha256: sha256Of(changes.written ?? 10),
    lines: 1,
    oomKills: null,
    memoryLimitBytes: null,
    error: null,
    stderrDropped: 0,
    leftoversEnded: false,
    peakMemoryBytes: null,
    cpuMs: null,
    ...changes,
  };
}
export function message(changes: Partial<TerminationMessage> = {}): string {
  const { type: _, at: __, stderrDropped: ___, ...end } = endRecord();
  return sign(JSON.stringify({ format: 1, run: "run-1", nonce: NONCE, finalLine: null, ...end, ...changes }), KEY);
}
export const startRecord: StartRecord = { type: "start", at: "", run: "run-1", nonce: NONCE, pod: "agent-worker-abcde", runtime: "node" };

/** Folds facts 10 ms apart, then lets time pass in ticks with fresh looks, as the follower does once a run is over. */
export function play(
  facts: readonly Fact[],
  options: { readonly afterMs?: number; readonly looks?: boolean; readonly from?: RunState } = {},
): RunState {
  let at = 10;
  let state = options.from ?? accepted();
  for (const fact of facts) {
    at += 10;
    state = reduce(state, { at, ...fact }, timeouts);
  }
  for (const end = at + (options.afterMs ?? 30_000); at < end && state.outcome === null; ) {
    at += 250;
    state = reduce(state, { at, kind: "tick" }, timeouts);
    if (options.looks !== false && state.endedAt !== null) state = reduce(state, { at, kind: "drained", bytes: state.delivered }, timeouts);
  }
  return state;
}

export const kindOf = (state: RunState) => {
  if (state.outcome === null) return null;
  const { evidence: _, ...kind } = state.outcome;
  return kind;
};
