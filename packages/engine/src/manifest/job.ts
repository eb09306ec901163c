import { RECORDS_FORMAT } from "../record-trust.ts";
import type { RunRequest } from "../request.ts";
import { deadlineSeconds, podGraceSec } from "./deadlines.ts";
import { envEntries, envSources, escapeDollars } from "./env.ts";
import { objectVolumes, withoutClash } from "./object-volumes.ts";
import { containerSecurity, podSecurity, rulesOf } from "./pod-rules.ts";
import { RUNNER_FILE } from "./secret.ts";
import { sharedMounts } from "./shared-mounts.ts";
import { runtimeOf, TOOLS_VOLUME, toolsMounts, toolsSteps, toolsVolumes } from "./tools.ts";

export const INPUT_MOUNT = "/run/agent-input";
const TERMINATION_LOG = "/dev/termination-log";
export const RUNNER_FORMAT = "1";
const INPUT_VOLUME = "agent-input";
const SHARED_VOLUME = "shared";
const OWN_VOLUMES = [INPUT_VOLUME, SHARED_VOLUME, TOOLS_VOLUME];

type Names = { readonly jobName: string; readonly secretName: string; readonly nonce: string };

/** The Job of a run. It contains no secret and no prompt: those are in the Secret it mounts. */
export function jobManifest(request: RunRequest, names: Names): Record<string, unknown> {
  const annotations = {
    ...request.annotations,
    [request.keys.runId]: request.runId,
    [request.keys.nonce]: names.nonce,
    [request.keys.runner]: RUNNER_FORMAT,
    [request.keys.output]: request.output.path,
    [request.keys.firstRun]: request.runId,
    ...(request.recordSecret == null ? {} : { [request.keys.records]: RECORDS_FORMAT }),
    ...(request.exclusive === null ? {} : { [request.keys.exclusive]: request.exclusive }),
  };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: names.jobName, namespace: request.namespace, labels: request.labels, annotations },
    spec: {
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      activeDeadlineSeconds: deadlineSeconds(request),
      ...(request.retain ? {} : { ttlSecondsAfterFinished: request.limits.ttlSeconds }),
      template: {
        metadata: { labels: request.labels, annotations: { ...rulesOf(request).annotations, ...annotations } },
        spec: podSpec(request, names),
      },
    },
  };
}

function podSpec(request: RunRequest, names: Names): Record<string, unknown> {
  const { scheduling } = request;
  return {
    restartPolicy: "Never",
    terminationGracePeriodSeconds: podGraceSec(request.limits),
    enableServiceLinks: false,
    automountServiceAccountToken: scheduling.serviceAccountName !== null,
    ...(scheduling.serviceAccountName === null ? {} : { serviceAccountName: scheduling.serviceAccountName }),
    ...(scheduling.dnsPolicy == null ? {} : { dnsPolicy: scheduling.dnsPolicy }),
    ...(scheduling.dnsConfig === null ? {} : { dnsConfig: scheduling.dnsConfig }),
    ...placement(scheduling),
    // No fsGroup: it would give every file of the shared volume to the group, where its driver lets it.
    ...podSecurity(request),
    volumes: volumes(request, names),
    ...toolsSteps(request),
    containers: [container(request)],
  };
}

/** Which nodes may take the pod, and with what they pull its image. */
export function placement({ imagePullSecrets, nodeSelector, tolerations }: RunRequest["scheduling"]): Record<string, unknown> {
  return {
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
  };
}

function volumes(request: RunRequest, names: Names): Record<string, unknown>[] {
  return [
    { name: INPUT_VOLUME, secret: { secretName: names.secretName, defaultMode: 0o444 } },
    { name: SHARED_VOLUME, persistentVolumeClaim: { claimName: request.volumes.shared.claimName } },
    ...claimsOf(request).map(({ name, claimName }) => ({ name, persistentVolumeClaim: { claimName } })),
    ...request.volumes.scratch.map((scratch) => ({ name: scratch.name, emptyDir: { sizeLimit: scratch.sizeLimit } })),
    ...toolsVolumes(request),
    ...objectVolumes(request, OWN_VOLUMES).volumes,
  ];
}

/** The run's own claims, each with the name of its volume. */
function claimsOf({ volumes: { claims = [] } }: RunRequest) {
  return claims.map(({ claimName, mountPath }, index) => ({ name: `own-${index + 1}`, claimName, mountPath }));
}

function container(request: RunRequest): Record<string, unknown> {
  const { container: main, volumes: mounts } = request;
  return {
    name: main.name,
    image: main.image,
    imagePullPolicy: main.imagePullPolicy,
    workingDir: main.workingDir,
    command: [...runtimeOf(request), `${INPUT_MOUNT}/${RUNNER_FILE}`, TERMINATION_LOG].map(escapeDollars),
    ...(request.env.from?.length ? { envFrom: envSources(request.env.from) } : {}),
    env: envEntries(request.env),
    resources: request.resources,
    terminationMessagePath: TERMINATION_LOG,
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: containerSecurity(request),
    volumeMounts: withoutClash([
      { name: INPUT_VOLUME, mountPath: INPUT_MOUNT, readOnly: true },
      ...sharedMounts(SHARED_VOLUME, mounts.shared),
      ...claimsOf(request).map(({ name, mountPath }) => ({ name, mountPath })),
      ...mounts.scratch.flatMap(({ name, mountPath, alsoAt = [] }) => [mountPath, ...alsoAt].map((at) => ({ name, mountPath: at }))),
      ...toolsMounts(request),
      ...objectVolumes(request, OWN_VOLUMES).mounts,
    ]),
  };
}
