import { type ContainerState, type EndRecord, type JobView, type PodView, trustOf } from "@paperclip-k8s/engine";
import { sign } from "@paperclip-k8s/runner";
import type { RunFacts } from "../cluster/job-state.ts";

// A run's objects as the engine sees them, for tests.

export const jobView = (change: Partial<JobView> = {}): JobView => ({
  name: "agent-example-otto-1a2b3c",
  uid: "job-uid",
  resourceVersion: "1",
  labels: {},
  annotations: {},
  createdAt: "2026-01-01T00:00:00Z",
  deletedAt: null,
  active: 1,
  suspended: false,
  deadlineSeconds: null,
  image: "agent:1",
  conditions: {},
  ...change,
});

export const finished = (type: "Complete" | "Failed", reason: string | null = null): Partial<JobView> => ({
  active: 0,
  conditions: { [type]: { reason, message: null, at: "2026-01-01T01:00:00Z" } },
});

export const podView = (state: ContainerState | null, change: Partial<PodView> = {}): PodView => ({
  name: "otto-pod",
  uid: "pod-uid",
  jobName: "agent-example-otto-1a2b3c",
  jobUid: "job-uid",
  node: "node-1",
  createdAt: "2026-01-01T00:00:01Z",
  deletedAt: null,
  phase: "Running",
  reason: null,
  message: null,
  conditions: {},
  containers: state === null ? [] : [{ name: "example", image: "agent:1", imageId: null, state }],
  initContainers: [],
  resources: {},
  claims: [],
  ...change,
});

export const running: ContainerState = { kind: "running", startedAt: "2026-01-01T00:00:05Z" };
export const waiting: ContainerState = { kind: "waiting", reason: "ImagePullBackOff", message: null };
export const terminated = (exitCode: number, reason = exitCode === 0 ? "Completed" : "Error"): ContainerState => ({
  kind: "terminated",
  exitCode,
  signal: null,
  reason,
  message: null,
  startedAt: "2026-01-01T00:00:05Z",
  finishedAt: "2026-01-01T00:59:00Z",
});

export const endRecord = (change: Partial<EndRecord> = {}): EndRecord => ({
  type: "end",
  at: "2026-01-01T00:58:59Z",
  exitCode: 0,
  signal: null,
  cause: "exit",
  bytes: 1234,
  written: 1234,
  lines: 12,
  oomKills: 0,
  peakMemoryBytes: null,
  memoryLimitBytes: null,
  error: null,
  stderrDropped: 0,
  leftoversEnded: false,
  cpuMs: null,
  ...change,
});

export const factsOf = (change: Partial<RunFacts>): RunFacts => ({
  job: jobView(),
  pods: [],
  container: "example",
  endRecord: null,
  claimed: null,
  termination: null,
  ...change,
});

/** The secret of the server in these tests. */
export const SECRET: Buffer = Buffer.alloc(32, 5);

/** A run's meta file as its runner writes it; null = as a version wrote it that signed nothing. */
export function metaFile(run: string, records: readonly object[], secret: Uint8Array | null = SECRET): string {
  const start = { type: "start", at: "", run, nonce: "n", pod: "p", runtime: "node" };
  const trust = trustOf(secret === null ? undefined : "hmac-1", secret, { firstRun: run, nonce: "n" });
  const key = trust.kind === "signed" ? trust.key : null;
  const line = (record: object, index: number): string =>
    key === null ? JSON.stringify(record) : sign(JSON.stringify({ ...record, seq: index + 1 }), key);
  return [start, ...records].map((record, index) => `${line(record, index)}\n`).join("");
}
