// The Kubernetes objects pocket reads itself; every other field is stored and returned untouched.

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface Meta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: Meta;
  [field: string]: unknown;
}

export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  lastProbeTime?: string | null;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export interface Namespace extends KubeObject {
  status: { phase: string };
}

export interface Secret extends KubeObject {
  type: string;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  immutable?: boolean;
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

export interface Claim extends KubeObject {
  spec: { accessModes?: string[]; storageClassName?: string; volumeName?: string; resources?: unknown };
  status: { phase: string; accessModes?: string[] };
}

export interface KubeEvent extends KubeObject {
  involvedObject: { kind: string; namespace?: string; name: string; uid: string; apiVersion?: string };
  type: string;
  reason: string;
  message: string;
  count: number;
  source: { component: string };
  firstTimestamp: string;
  lastTimestamp: string;
}

export interface Node extends KubeObject {
  spec: { taints?: { key: string; effect: string; timeAdded?: string }[] };
  status: { capacity: Record<string, string>; allocatable: Record<string, string>; conditions: Condition[] };
}

// Kubernetes writes times to the second.
export const timestamp = (at: number = Date.now()): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

// Controllers compare conditions by type; the time moves only when the status does.
export function setCondition(conditions: readonly Condition[] | undefined, next: Condition, at = timestamp()): Condition[] {
  const old = conditions?.find((condition) => condition.type === next.type);
  const merged = { ...next, lastTransitionTime: old && old.status === next.status ? (old.lastTransitionTime ?? at) : at };
  if (!old) return [...(conditions ?? []), merged];
  return (conditions ?? []).map((condition) => (condition === old ? merged : condition));
}

export const hasCondition = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;

const nameAlphabet = "bcdfghjklmnpqrstvwxz2456789";

// The alphabet of the real server: no vowels, so that no words come out.
export const randomSuffix = (length = 5): string =>
  Array.from({ length }, () => nameAlphabet[Math.floor(Math.random() * nameAlphabet.length)]).join("");
