import type { NewClaim } from "../request.ts";

/** A claim of the run's own. No Job owns it: it outlives its runs, and its labels let it be found. */
export function claimManifest(namespace: string, name: string, { storageClass, capacity, labels }: NewClaim): Record<string, unknown> {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace, labels },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: storageClass, resources: { requests: { storage: capacity } } },
  };
}
