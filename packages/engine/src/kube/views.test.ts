import fc from "fast-check";
import { expect, test } from "vitest";
import { projectEvent, projectJob, projectPod } from "./views.ts";

const rawPod = (n: number) => ({
  metadata: {
    name: `job-${n}-abcde`,
    uid: `00000000-0000-0000-0000-${n}`,
    resourceVersion: String(n),
    creationTimestamp: "2026-11-15T02:33:45Z",
    labels: { "batch.kubernetes.io/job-name": `job-${n}`, app: "x" },
    annotations: { big: "x".repeat(500) },
    ownerReferences: [
      { kind: "Other", name: "o", uid: "o" },
      { apiVersion: "batch/v1", kind: "Job", name: `job-${n}`, uid: `uid-${n}`, controller: true },
    ],
    managedFields: Array.from({ length: 40 }, (_, i) => ({ manager: "kubelet", fieldsV1: { [`f:field${i}`]: { "f:more": {} } } })),
  },
  spec: {
    nodeName: "node1",
    containers: [
      {
        name: "agent",
        resources: { requests: { cpu: "500m" }, limits: { memory: "512Mi" } },
        env: Array.from({ length: 50 }, (_, i) => ({ name: `E${i}`, value: "v".repeat(40) })),
      },
    ],
    volumes: [
      { name: "tmp", emptyDir: {} },
      { name: "shared", persistentVolumeClaim: { claimName: "data" } },
    ],
  },
  status: {
    phase: "Running",
    conditions: ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
      type,
      status: "True",
      lastTransitionTime: "2026-11-15T02:33:46Z",
    })),
    containerStatuses: [
      { name: "agent", image: "localhost/agent:1", imageID: "sha256:a1", state: { running: { startedAt: "2026-11-15T02:33:46Z" } } },
    ],
  },
});

test("a pod as the API gives it", () => {
  expect(projectPod(rawPod(1))).toEqual({
    name: "job-1-abcde",
    uid: "00000000-0000-0000-0000-1",
    jobName: "job-1",
    jobUid: "uid-1",
    node: "node1",
    createdAt: "2026-11-15T02:33:45Z",
    deletedAt: null,
    phase: "Running",
    reason: null,
    message: null,
    conditions: expect.objectContaining({ Ready: { status: "True", reason: null, message: null, at: "2026-11-15T02:33:46Z" } }),
    containers: [
      {
        name: "agent",
        image: "localhost/agent:1",
        imageId: "sha256:a1",
        state: { kind: "running", startedAt: "2026-11-15T02:33:46Z" },
        sidecar: false,
        started: false,
        lastEnd: null,
      },
    ],
    initContainers: [],
    resources: { agent: { "requests.cpu": "500m", "limits.memory": "512Mi" } },
    claims: ["data"],
  });
});

test("container states: terminated, waiting, none; a missing exit code is no success", () => {
  const states = (state: unknown) => projectPod({ status: { containerStatuses: [{ name: "c", state }] } }).containers[0]?.state;
  expect(states({ terminated: { exitCode: 0, signal: 9, reason: "Completed", message: "m" } })).toMatchObject({
    exitCode: 0,
    signal: 9,
    message: "m",
  });
  expect(states({ terminated: {} })).toMatchObject({ kind: "terminated", exitCode: -1 });
  expect(states({ waiting: { reason: "ErrImagePull" } })).toEqual({ kind: "waiting", reason: "ErrImagePull", message: null });
  expect(states(undefined)).toEqual({ kind: "waiting", reason: null, message: null });
});

test("a Job: true conditions only, all labels, annotations without kubectl's copy", () => {
  const annotations = { nonce: "1", "kubectl.kubernetes.io/last-applied-configuration": "{}" };
  const conditions = [
    { type: "Failed", status: "True", reason: "DeadlineExceeded", message: "m", lastTransitionTime: "t" },
    { type: "Complete", status: "False" },
  ];
  const job = projectJob({
    metadata: { name: "a", uid: "u", resourceVersion: "7", labels: { x: "y" }, annotations },
    spec: {
      suspend: true,
      activeDeadlineSeconds: 60,
      template: {
        spec: {
          containers: [
            { name: "mesh", image: "m" },
            { name: "agent", image: "i" },
          ],
        },
      },
    },
    status: { active: 1, conditions },
  });
  expect(job).toEqual({
    name: "a",
    uid: "u",
    resourceVersion: "7",
    labels: { x: "y" },
    annotations: { nonce: "1" },
    createdAt: null,
    deletedAt: null,
    active: 1,
    suspended: true,
    deadlineSeconds: 60,
    expires: false,
    images: { mesh: "m", agent: "i" },
    conditions: { Failed: { reason: "DeadlineExceeded", message: "m", at: "t" } },
  });
});

test("events of both kinds", () => {
  expect(projectEvent({ type: "Warning", reason: "r", message: "m", count: 3, lastTimestamp: "t" })).toMatchObject({ count: 3, at: "t" });
  expect(projectEvent({ eventTime: "e", series: { count: 5, lastObservedTime: "s" }, lastTimestamp: null })).toMatchObject({
    count: 5,
    at: "s",
  });
  expect(projectEvent({ eventTime: "e" })).toMatchObject({ count: 1, at: "e" });
});

test("nothing an answer can hold makes a projection throw", () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), fc.anything(), (metadata, spec, status) => {
      for (const project of [projectJob, projectPod, projectEvent]) {
        project(metadata);
        project({ metadata, spec, status });
        project({
          metadata: { labels: metadata, ownerReferences: [spec] },
          status: { conditions: [status], containerStatuses: [spec, { state: status }] },
        });
      }
    }),
  );
});

test("a known pod keeps the little that is used of it, and nothing of the object it came in", () => {
  const raw = JSON.parse(JSON.stringify(rawPod(1))) as unknown;
  const view = projectPod(raw);
  expect(JSON.stringify(view).length).toBeLessThan(JSON.stringify(raw).length / 4);
  const parts = new Set(partsOf(raw));
  expect(partsOf(view).filter((part) => parts.has(part))).toEqual([]);
});

/** Every object and list in a value, itself included. */
function partsOf(value: unknown): object[] {
  return typeof value === "object" && value !== null ? [value, ...Object.values(value).flatMap(partsOf)] : [];
}
