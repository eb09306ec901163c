import type { Job } from "./job.ts";
import type { Claim, ConfigMap, KubeEvent, KubeObject, Namespace, Node, Secret } from "./object.ts";
import type { Pod } from "./pod.ts";

export interface Resources {
  namespaces: Namespace;
  nodes: Node;
  pods: Pod;
  jobs: Job;
  secrets: Secret;
  configmaps: ConfigMap;
  persistentvolumeclaims: Claim;
  events: KubeEvent;
  serviceaccounts: KubeObject;
  storageclasses: KubeObject;
}

export type ResourceName = keyof Resources;

export interface ResourceInfo {
  readonly group: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
}

const core = (kind: string, namespaced = true, hasStatus = false): ResourceInfo => ({
  group: "",
  apiVersion: "v1",
  kind,
  namespaced,
  hasStatus,
});

export const resources: Readonly<Record<ResourceName, ResourceInfo>> = {
  namespaces: core("Namespace", false, true),
  nodes: core("Node", false, true),
  pods: core("Pod", true, true),
  secrets: core("Secret"),
  configmaps: core("ConfigMap"),
  persistentvolumeclaims: core("PersistentVolumeClaim", true, true),
  events: core("Event"),
  serviceaccounts: core("ServiceAccount"),
  storageclasses: { group: "storage.k8s.io", apiVersion: "storage.k8s.io/v1", kind: "StorageClass", namespaced: false, hasStatus: false },
  jobs: { group: "batch", apiVersion: "batch/v1", kind: "Job", namespaced: true, hasStatus: true },
};

export const isResource = (name: string): name is ResourceName => Object.hasOwn(resources, name);

// As the real server names it in messages: "jobs.batch", but "pods".
export const qualified = (resource: ResourceName): string =>
  resources[resource].group === "" ? resource : `${resource}.${resources[resource].group}`;

export const resourceOfKind = (apiVersion: string, kind: string): ResourceName | undefined =>
  (Object.keys(resources) as ResourceName[]).find((name) => resources[name].kind === kind && resources[name].apiVersion === apiVersion);
