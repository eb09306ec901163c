import type { Condition, KubeObject } from "./object.ts";

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: {
    secretKeyRef?: { name: string; key: string; optional?: boolean };
    configMapKeyRef?: { name: string; key: string; optional?: boolean };
    fieldRef?: { fieldPath: string };
  };
}

export interface EnvFrom {
  prefix?: string;
  secretRef?: { name: string; optional?: boolean };
  configMapRef?: { name: string; optional?: boolean };
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  subPath?: string;
  readOnly?: boolean;
}

export interface SecurityContext {
  privileged?: boolean;
  allowPrivilegeEscalation?: boolean;
  capabilities?: { add?: string[]; drop?: string[] };
  runAsNonRoot?: boolean;
  runAsUser?: number;
  seccompProfile?: { type?: string };
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  env?: EnvVar[];
  envFrom?: EnvFrom[];
  volumeMounts?: VolumeMount[];
  imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  terminationMessagePath?: string;
  terminationMessagePolicy?: "File" | "FallbackToLogsOnError";
  resources?: { requests?: Record<string, string | number>; limits?: Record<string, string | number> };
  securityContext?: SecurityContext;
}

export interface KeyToPath {
  key: string;
  path: string;
  mode?: number;
}

export interface Volume {
  name: string;
  secret?: { secretName?: string; items?: KeyToPath[]; defaultMode?: number; optional?: boolean };
  configMap?: { name?: string; items?: KeyToPath[]; defaultMode?: number; optional?: boolean };
  emptyDir?: { sizeLimit?: string; medium?: string };
  persistentVolumeClaim?: { claimName: string; readOnly?: boolean };
  hostPath?: { path: string };
  image?: { reference: string; pullPolicy?: string };
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  serviceAccountName?: string;
  securityContext?: SecurityContext;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  [field: string]: unknown;
}

export interface ContainerState {
  waiting?: { reason: string; message?: string };
  running?: { startedAt: string };
  terminated?: {
    exitCode: number;
    signal?: number;
    reason: string;
    message?: string;
    startedAt: string | null;
    finishedAt: string | null;
    containerID?: string;
  };
}

export interface ContainerStatus {
  name: string;
  state: ContainerState;
  lastState: ContainerState;
  ready: boolean;
  started: boolean;
  restartCount: number;
  image: string;
  imageID: string;
  containerID?: string;
}

export interface PodStatus {
  phase: "Pending" | "Running" | "Succeeded" | "Failed";
  conditions?: Condition[];
  reason?: string;
  message?: string;
  startTime?: string;
  hostIP?: string;
  podIP?: string;
  podIPs?: { ip: string }[];
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
  qosClass?: string;
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status: PodStatus;
}

export const isOver = (pod: Pod): boolean => pod.status.phase === "Succeeded" || pod.status.phase === "Failed";

// Guaranteed needs limits for cpu and memory equal to the requests in every container.
export function qosClass(spec: PodSpec): string {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const any = containers.some((c) => Object.keys({ ...c.resources?.requests, ...c.resources?.limits }).length > 0);
  if (!any) return "BestEffort";
  const guaranteed = containers.every((c) => {
    const limits = c.resources?.limits ?? {};
    const requests = { ...limits, ...c.resources?.requests };
    return ["cpu", "memory"].every((r) => limits[r] !== undefined && String(limits[r]) === String(requests[r]));
  });
  return guaranteed ? "Guaranteed" : "Burstable";
}
