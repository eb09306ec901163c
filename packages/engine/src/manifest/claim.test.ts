import { expect, test } from "vitest";
import type { ClaimVolume } from "../request.ts";
import { claimManifest, volumeOwnershipManifest, volumeOwnershipName } from "./claim.ts";
import { buildSubmission } from "./submission.ts";
import { exampleRequest } from "./testing/example-request.ts";

const CREATE = { storageClass: "fast", capacity: "2Gi", labels: { "example.io/kind": "own" } };
const CLAIM: ClaimVolume = { claimName: "db-worker", mountPath: "/agent/state", create: CREATE, setOwnership: false };
const plain = exampleRequest();
const request = exampleRequest({ volumes: { ...plain.volumes, claims: [CLAIM] } });

interface Pod {
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumes: readonly object[];
  readonly containers: readonly { readonly volumeMounts: readonly object[] }[];
}
const podOf = (job: Readonly<Record<string, unknown>>) => (job.spec as { template: { spec: Pod } }).template.spec;

test("a claim of its own: one pod at a time, labelled, owned by nobody", () => {
  expect(claimManifest("agents", "db-worker", CREATE)).toEqual({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "db-worker", namespace: "agents", labels: { "example.io/kind": "own" } },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "fast", resources: { requests: { storage: "2Gi" } } },
  });
});

test("the run mounts it and must be able to write there; nothing has its pod change a volume's owner", () => {
  const { job, secretData } = buildSubmission(request, "0123456789abcdef01234567", "runner");
  const pod = podOf(job());
  expect(pod.volumes).toContainEqual({ name: "own-1", persistentVolumeClaim: { claimName: "db-worker" } });
  expect(pod.containers[0]?.volumeMounts).toContainEqual({ name: "own-1", mountPath: "/agent/state" });
  expect(pod.securityContext).not.toHaveProperty("fsGroup");
  const spec = JSON.parse(Buffer.from(secretData()["spec.json"] ?? "", "base64").toString()) as { writable?: unknown };
  expect(spec.writable).toEqual(["/agent/state"]);
});

test("the pod that hands it over has that volume and no other, and ends by itself", () => {
  const job = volumeOwnershipManifest(request, CLAIM);
  const pod = podOf(job);
  expect(job.metadata).toMatchObject({ name: volumeOwnershipName(request, CLAIM), labels: request.labels });
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 });
  expect(pod.containers[0]).toMatchObject({ securityContext: { readOnlyRootFilesystem: true, runAsNonRoot: true } });
  expect(pod.volumes).toEqual([{ name: "claim", persistentVolumeClaim: { claimName: "db-worker" } }]);
  expect(pod.containers[0]?.volumeMounts).toEqual([{ name: "claim", mountPath: "/agent/state" }]);
  expect(job.spec).toMatchObject({ activeDeadlineSeconds: 240, ttlSecondsAfterFinished: 180 });
});

test("its name is the claim's, whoever asks, and a valid one", () => {
  const other = exampleRequest({ runId: "run-2", name: { prefix: "agent-", parts: ["other"], identity: "other" } });
  expect(volumeOwnershipName(other, CLAIM)).toBe(volumeOwnershipName(request, CLAIM));
  expect(volumeOwnershipName(request, { ...CLAIM, claimName: `db-${"x".repeat(200)}` })).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
});
