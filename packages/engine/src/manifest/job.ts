import type { RunRequest } from "../run/request.ts";
import { deadlineSeconds, podGraceSec } from "./deadlines.ts";
import { envEntries, envSources } from "./env.ts";
import { escapeDollars } from "./escape.ts";
import { objectVolumes, withoutClash } from "./object-volumes.ts";
import { RUNNER_FILE } from "./secret.ts";

export const INPUT_MOUNT = "/run/agent-input";
export const TERMINATION_LOG = "/dev/termination-log";
export const RUNNER_FORMAT = "1";
const INPUT_VOLUME = "agent-input";
const SHARED_VOLUME = "shared";
const OWN_VOLUMES = [INPUT_VOLUME, SHARED_VOLUME];

type Names = { readonly jobName: string; readonly secretName: string; readonly nonce: string };

/** The Job of a run. Nothing secret and no prompt stands in it: those are in the Secret it mounts. */
export function jobManifest(request: RunRequest, names: Names): Record<string, unknown> {
  const annotations = {
    ...request.annotations,
    [request.keys.runId]: request.runId,
    [request.keys.nonce]: names.nonce,
    [request.keys.runner]: RUNNER_FORMAT,
  };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: names.jobName, namespace: request.namespace, labels: request.labels, annotations },
    spec: {
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      activeDeadlineSeconds: deadlineSeconds(request.limits),
      ...(request.retain ? {} : { ttlSecondsAfterFinished: request.limits.ttlSeconds }),
      template: { metadata: { labels: request.labels, annotations }, spec: podSpec(request, names) },
    },
  };
}

function podSpec(request: RunRequest, names: Names): Record<string, unknown> {
  const { scheduling, user } = request;
  return {
    restartPolicy: "Never",
    terminationGracePeriodSeconds: podGraceSec(request.limits),
    // Orphans of the CLI are reaped by the pause process; Node as PID 1 leaves them as zombies.
    shareProcessNamespace: true,
    enableServiceLinks: false,
    automountServiceAccountToken: scheduling.serviceAccountName !== null,
    ...(scheduling.serviceAccountName === null ? {} : { serviceAccountName: scheduling.serviceAccountName }),
    ...(scheduling.imagePullSecrets.length === 0 ? {} : { imagePullSecrets: scheduling.imagePullSecrets.map((name) => ({ name })) }),
    ...(scheduling.dnsPolicy == null ? {} : { dnsPolicy: scheduling.dnsPolicy }),
    ...(scheduling.dnsConfig === null ? {} : { dnsConfig: scheduling.dnsConfig }),
    ...(Object.keys(scheduling.nodeSelector).length === 0 ? {} : { nodeSelector: scheduling.nodeSelector }),
    ...(scheduling.tolerations.length === 0 ? {} : { tolerations: scheduling.tolerations }),
    securityContext: { runAsNonRoot: true, runAsUser: user.uid, runAsGroup: user.gid, seccompProfile: { type: "RuntimeDefault" } },
    volumes: volumes(request, names),
    containers: [container(request)],
  };
}

function volumes(request: RunRequest, names: Names): Record<string, unknown>[] {
  return [
    { name: INPUT_VOLUME, secret: { secretName: names.secretName, defaultMode: 0o444 } },
    { name: SHARED_VOLUME, persistentVolumeClaim: { claimName: request.volumes.shared.claimName } },
    ...request.volumes.scratch.map((scratch) => ({ name: scratch.name, emptyDir: { sizeLimit: scratch.sizeLimit } })),
    ...objectVolumes(request, OWN_VOLUMES).volumes,
  ];
}

function container(request: RunRequest): Record<string, unknown> {
  const { container: main, volumes: mounts } = request;
  const shared = mounts.shared;
  return {
    name: main.name,
    image: main.image,
    imagePullPolicy: main.imagePullPolicy,
    workingDir: main.workingDir,
    command: [...main.runtime, `${INPUT_MOUNT}/${RUNNER_FILE}`, TERMINATION_LOG].map(escapeDollars),
    ...(request.env.from?.length ? { envFrom: envSources(request.env.from) } : {}),
    env: envEntries(request.env),
    resources: request.resources,
    terminationMessagePath: TERMINATION_LOG,
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: {
      allowPrivilegeEscalation: false,
      runAsNonRoot: true,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    },
    volumeMounts: withoutClash([
      { name: INPUT_VOLUME, mountPath: INPUT_MOUNT, readOnly: true },
      { name: SHARED_VOLUME, mountPath: shared.mountPath, ...(shared.subPath === null ? {} : { subPath: shared.subPath }) },
      ...mounts.scratch.map((scratch) => ({ name: scratch.name, mountPath: scratch.mountPath })),
      ...objectVolumes(request, OWN_VOLUMES).mounts,
    ]),
  };
}
