import type { ClaimVolume, NewClaim, RunRequest } from "../request.ts";
import { placement, RUNNER_FORMAT } from "./job.ts";
import { jobName } from "./names.ts";
import { containerSecurity, podSecurity, rulesOf } from "./pod-rules.ts";
import { runtimeOf, toolsMounts, toolsSteps, toolsVolumes } from "./tools.ts";

/** A claim of the run's own. No Job owns it: it outlives its runs, and its labels let it be found. */
export function claimManifest(namespace: string, name: string, { storageClass, capacity, labels }: NewClaim): Record<string, unknown> {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace, labels },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: storageClass, resources: { requests: { storage: capacity } } },
  };
}

/** Proves that the pod's user may write there. */
const SCRIPT = `const f=process.argv[1]+"/.writable-"+process.pid;require("fs").writeFileSync(f,"");require("fs").rmSync(f)`;
const RUN_SEC = 180;

export const volumeOwnershipName = ({ name }: RunRequest, { claimName }: ClaimVolume): string =>
  jobName({ prefix: name.prefix, parts: ["hand-over", claimName.slice(-16)], identity: `hand-over/${claimName}` });

/** A Job whose pod mounts this claim and nothing else: its fsGroup makes the kubelet change the group of this volume and of no other. */
export function volumeOwnershipManifest(request: RunRequest, claim: ClaimVolume): Record<string, unknown> {
  const { labels, container, scheduling, user, limits, resources, keys } = request;
  const security = podSecurity(request);
  const annotations = { ...request.annotations, [keys.runId]: request.runId, [keys.runner]: RUNNER_FORMAT };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: volumeOwnershipName(request, claim), namespace: request.namespace, labels, annotations },
    spec: {
      // The group of a local volume is not changed while another pod, which may just be ending, has it mounted.
      backoffLimit: 2,
      activeDeadlineSeconds: limits.scheduleTimeoutSec + RUN_SEC,
      ttlSecondsAfterFinished: RUN_SEC,
      template: {
        metadata: { labels, annotations: { ...rulesOf(request).annotations, ...annotations } },
        spec: {
          restartPolicy: "Never",
          terminationGracePeriodSeconds: 1,
          automountServiceAccountToken: false,
          ...placement(scheduling),
          ...security,
          securityContext: { ...security.securityContext, fsGroup: user.gid, fsGroupChangePolicy: "Always" },
          volumes: [{ name: "claim", persistentVolumeClaim: { claimName: claim.claimName } }, ...toolsVolumes(request)],
          ...toolsSteps(request),
          containers: [
            {
              name: "hand-over",
              image: container.image,
              imagePullPolicy: container.imagePullPolicy,
              command: [...runtimeOf(request), "-e", SCRIPT, claim.mountPath],
              resources,
              terminationMessagePolicy: "FallbackToLogsOnError",
              securityContext: containerSecurity(request),
              volumeMounts: [{ name: "claim", mountPath: claim.mountPath }, ...toolsMounts(request)],
            },
          ],
        },
      },
    },
  };
}
