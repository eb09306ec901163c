import type { Permission } from "@paperclip-k8s/engine";
import type { AuditEntry, KubeObject, Pocket, PocketOptions } from "@paperclip-k8s/pocket";
import type { BedFaults } from "./bed-faults.ts";

/** A cluster with a namespace, an agent image, a shared volume and an account: what every test of the suite starts from. */
export interface Bed {
  readonly kind: "pocket" | "kube";
  /** For what only the embedded cluster has; null on the real one. */
  readonly pocket: Pocket | null;
  readonly namespace: string;
  /** Of an account that may do what the table of permissions lists, and nothing else. */
  readonly kubeconfig: string;
  /** The shared volume: claim `data`, mounted at the same path in server and pods. */
  readonly data: string;
  readonly images: { readonly agent: string; readonly missing: string };
  /** Where a server of the test must listen so that pods reach it. */
  readonly hostAddress: string;
  readonly faults: BedFaults;
  /** Every request the account has made so far. */
  readonly requests: readonly AuditEntry[];
  /** Connections the account has made so far. */
  readonly connections: number;
  /** Another shared volume with a claim of its own name. */
  addVolume(claim: string): Promise<string>;
  /** A storage class with so many volumes: each binds a claim. Their roots are root's, as those of new block devices are. */
  addStorageClass(volumes: number): Promise<string>;
  /** Another account, with these permissions only; the path of its kubeconfig. */
  account(permissions: readonly Pick<Permission, "group" | "resource" | "verb" | "scope">[]): Promise<string>;
  list(kind: BedKind): Promise<KubeObject[]>;
  /** Somebody else changes labels of an object; null removes one. */
  relabel(kind: "jobs" | "pods", name: string, labels: Readonly<Record<string, string | null>>): Promise<void>;
  /** What `kubectl logs` would show. */
  podLog(pod: string): Promise<string>;
  stop(): Promise<void>;
}

/** The settings by which an adapter finds this cluster, its image and its volume. */
export function settingsFor({ kubeconfig, namespace, images, data }: Pick<Bed, "kubeconfig" | "namespace" | "images" | "data">) {
  return { kubeconfig, namespace, image: images.agent, dataClaim: "data", dataPath: data };
}

export type BedKind = "jobs" | "pods" | "secrets" | "events" | "persistentvolumeclaims";

/** On the embedded cluster, or on the real one that `npm run kube:up` has started when CLUSTER=kube says so. */
export async function startBed(options: PocketOptions = {}): Promise<Bed> {
  if (process.env.CLUSTER === "kube") return (await import("./kube/kube-bed.ts")).startKubeBed();
  return (await import("./pocket-bed.ts")).startPocketBed(options);
}

export const onKube: boolean = process.env.CLUSTER === "kube";
