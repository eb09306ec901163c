import type { EndRecord, StartRecord, TerminationMessage } from "@paperclip-k8s/runner";
import type { ContainerState, JobView, PodView } from "../cluster/views.ts";
import { exampleRequest } from "../manifest/example-request.ts";
import { buildSubmission } from "../manifest/submission.ts";
import { policyFor } from "./policy.ts";
import { initialState, type RunState } from "./state.ts";

// Facts of a made-up run, for the reducer's tests.

export const NONCE = "0123456789abcdef01234567";
export const policy = policyFor(exampleRequest(), buildSubmission(exampleRequest(), NONCE, "runner"));
const identity = {
  runId: "run-1",
  runIdKey: "example.io/run-id",
  nonce: NONCE,
  namespace: "agents",
  jobName: "agent-worker",
  jobUid: "job-uid",
  container: "agent",
  image: "agent:1",
};

export function accepted(): RunState {
  return { ...initialState(identity, 0), admittedAt: 1, acceptedAt: 2 };
}

export function job(changes: Partial<JobView> = {}): JobView {
  return {
    name: "agent-worker",
    uid: "job-uid",
    labels: {},
    annotations: { "example.io/run-id": "run-1" },
    createdAt: null,
    deletedAt: null,
    active: 1,
    suspended: false,
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
    containers: state === null ? [] : [{ name: "agent", image: "agent:1", state }],
    initContainers: [],
    ...changes,
  };
}

export const running: ContainerState = { kind: "running", startedAt: null };
export const waiting = (reason: string, message: string | null = null): ContainerState => ({ kind: "waiting", reason, message });
export function ended(exitCode: number, reason: string, message: string | null = null): ContainerState {
  return { kind: "terminated", exitCode, signal: null, reason, message, startedAt: null, finishedAt: null };
}
export const condition = (reason: string, message: string | null = null) => ({ reason, message, at: null });

export function endRecord(changes: Partial<EndRecord> = {}): EndRecord {
  return {
    type: "end",
    at: "2026-01-01T00:00:00.000Z",
    exitCode: 0,
    signal: null,
    cause: "exit",
    bytes: 10,
    written: 10,
    lines: 1,
    oomKills: null,
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
  return JSON.stringify({ format: 1, run: "run-1", nonce: NONCE, finalLine: null, ...end, ...changes });
}
export const startRecord: StartRecord = { type: "start", at: "", run: "run-1", nonce: NONCE, pod: "agent-worker-abcde", runtime: "node" };
