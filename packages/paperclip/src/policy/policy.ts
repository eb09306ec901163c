import type { CommonValues } from "../settings/schema.ts";
import type { OfferedTemplate } from "./pod-template.ts";

// What the operator lets agents use. An agent can change its own settings, so they are checked against this.

/** What the operator's policy file says; a file leaves out what it does not change. */
export interface Policy {
  /** Path of the file; null = there is none, and these are the defaults. */
  readonly source: string | null;
  /** What a setting is if an agent does not set it. These values are always allowed. */
  readonly defaults: GivenSettings;
  /** The same for some agents; a later rule wins over an earlier one, and each over `defaults`. */
  readonly agents: readonly AgentRule[];
  readonly allow: PolicyAllow;
  readonly limits: PolicyLimits;
  readonly force: ForcedPod;
  readonly volume: PolicyVolume;
  readonly seeds: SeedSource | null;
  /** What agents' pods may have besides the agent's container, by name. */
  readonly podTemplates: Readonly<Record<string, OfferedTemplate>>;
  readonly tools: PolicyTools;
}

/** Values of agents' settings by their keys, of which this type has those without a dot; null = as without a policy. */
export type GivenSettings = { readonly [Name in keyof CommonValues]?: CommonValues[Name] | null };

export interface AgentRule {
  readonly match: AgentMatch;
  /** Of a rule with a type also settings that only some CLI has: they are checked where that CLI is known. */
  readonly defaults: GivenSettings;
}

/** All that are there have to fit. Ids are whole; the others are patterns. */
export type AgentMatch = { readonly [Key in "id" | "company" | "name" | "role" | "type"]?: readonly Pattern[] | undefined };

/** A name, or a pattern in which `*` stands for any characters; with `!` before it, what it matches is taken out again. The last match counts. */
export type Pattern = string;
/** An absolute path in which `*` stands for a part of one component, and `**` for any number of components. */
export type PathPattern = string;

export interface PolicyAllow {
  /** Kubeconfigs on the server, besides those that its variable KUBECONFIG names; never below the data path. */
  readonly kubeconfigs: readonly PathPattern[];
  /** Besides the namespace of the server's own pod, or the default one. */
  readonly namespaces: readonly Pattern[];
  /**
   * Namespaces in which objects of the same names stand for those of the server's pod, besides those that `namespaces` lists in full. A
   * pattern of `namespaces` is not enough: what has the same name there may be somebody else's.
   */
  readonly sameNames: readonly Pattern[];
  readonly serviceAccounts: readonly Pattern[];
  /** Claims for `dataClaim`, besides the one that the server itself mounts. */
  readonly claims: readonly Pattern[];
  /** Mount points for `dataPath`, besides PAPERCLIP_HOME and the default one. */
  readonly dataPaths: readonly PathPattern[];
  /** Files and folders from which instructions and skills may come, besides the agent's own and those that the host manages. */
  readonly files: readonly PathPattern[];
  readonly images: readonly Pattern[];
  /** Labels of nodes: a key for all its values, or `key=value`. */
  readonly nodeSelectors: readonly Pattern[];
  /** Keys of taints; a toleration without a key is never allowed. */
  readonly tolerations: readonly Pattern[];
  /** Keys of labels. */
  readonly labels: readonly Pattern[];
  readonly runtimeClasses: readonly Pattern[];
  /** Names among `podTemplates`. */
  readonly podTemplates: readonly Pattern[];
  /** Values of `networkScope` that the cluster's own network policies keep. */
  readonly networkScopes: readonly Pattern[];
  readonly storageClasses: readonly Pattern[];
  /** Names that an agent's `env` may set. */
  readonly environment: readonly Pattern[];
  /** Variables of the server that `inheritNames` may ask for, besides the built-in list. */
  readonly inheritedEnvironment: readonly Pattern[];
  /** Secrets and ConfigMaps of the server's pod that `inheritNames` may ask for. */
  readonly secrets: readonly Pattern[];
  /** `inherit: all`. */
  readonly inheritAll: boolean;
  readonly retainJobs: boolean;
  /** Names of containers for `serverContainer`, besides the usual ones. */
  readonly serverContainers: readonly Pattern[];
}

/** The largest values; quantities as Kubernetes writes them. */
interface PolicyLimits {
  readonly cpu: string;
  readonly memory: string;
  readonly ephemeralStorage: string;
  readonly storageCapacity: string;
  readonly runSec: number;
  readonly graceSec: number;
  readonly scheduleTimeoutSec: number;
  readonly ttlSecondsAfterFinished: number;
  readonly outputBytes: number;
  /** How much of the end of each run's output is kept; 0 = nothing. */
  readonly keepOutputBytes: number;
}

/** What every pod gets, whatever the agent's settings say. */
export interface ForcedPod {
  readonly runtimeClassName: string | null;
  readonly podTemplate: string | null;
  /** False = in a user namespace of its own; null = the cluster's default. */
  readonly hostUsers: boolean | null;
  readonly priorityClassName: string | null;
  readonly readOnlyRootFilesystem: boolean;
  /** Autoscalers leave the node of a pod alone while it works. */
  readonly doNotDisrupt: boolean;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface PolicyVolume {
  /** `scoped`: a pod mounts what its run needs. `whole`: every pod mounts the whole claim, as in earlier versions. */
  readonly mount: "scoped" | "whole";
  /** Further folders of the volume for agents' pods, absolute; `*` stands for one path component. */
  readonly paths: readonly { readonly path: string; readonly readOnly: boolean }[];
}

/** Files that each private home begins with: a Secret in the agents' namespace, or a folder that agents' pods cannot write. */
export type SeedSource = { readonly secret: string } | { readonly folder: string };

/** Node and agents' CLIs for images that have none. */
export interface PolicyTools {
  /** Null = there are none. */
  readonly image: string | null;
  /** `copy`: an init container copies them into the pod. `image-volume`: the image itself is mounted. */
  readonly mount: "copy" | "image-volume";
}

const DAY = 86_400;

/** Labels by which a pod could ask for one certain node, or for one that runs the cluster. */
const CHOSEN_NODES: readonly Pattern[] = [
  "!kubernetes.io/hostname",
  "!node-role.kubernetes.io/*",
  "!node.kubernetes.io/*",
  "!*node-restriction.kubernetes.io/*",
  "node.kubernetes.io/instance-type",
];

/** Taints of nodes that run the cluster, or that are not to get pods now. */
const TAINTED_NODES: readonly Pattern[] = ["!node-role.kubernetes.io/*", "!node.kubernetes.io/*", "!node.cloudprovider.kubernetes.io/*"];

/** Labels that people sort by. Others make a pod part of a Service, or have something injected into it. */
const BOOKKEEPING_LABELS: readonly Pattern[] = [
  ...["team", "owner", "contact", "project", "environment", "department", "business-unit"],
  ...["cost-center", "cost-centre", "costcenter", "ticket"],
];

export const DEFAULT_POLICY: Policy = {
  source: null,
  defaults: {},
  agents: [],
  allow: {
    kubeconfigs: [],
    namespaces: [],
    sameNames: [],
    serviceAccounts: [],
    claims: [],
    dataPaths: [],
    files: [],
    images: ["*"],
    nodeSelectors: ["*", ...CHOSEN_NODES],
    tolerations: ["*", ...TAINTED_NODES],
    labels: BOOKKEEPING_LABELS,
    runtimeClasses: [],
    podTemplates: ["*"],
    networkScopes: [],
    storageClasses: ["*"],
    environment: ["*"],
    inheritedEnvironment: [],
    secrets: [],
    inheritAll: false,
    retainJobs: false,
    serverContainers: [],
  },
  limits: {
    cpu: "32",
    memory: "128Gi",
    ephemeralStorage: "24Gi",
    storageCapacity: "100Gi",
    runSec: 30 * DAY,
    graceSec: 3600,
    scheduleTimeoutSec: DAY,
    ttlSecondsAfterFinished: 7 * DAY,
    outputBytes: 1024 ** 3,
    keepOutputBytes: 0,
  },
  force: {
    runtimeClassName: null,
    podTemplate: null,
    hostUsers: null,
    priorityClassName: null,
    readOnlyRootFilesystem: true,
    doNotDisrupt: true,
    nodeSelector: {},
    labels: {},
    annotations: {},
  },
  volume: { mount: "scoped", paths: [] },
  seeds: null,
  podTemplates: {},
  tools: { image: null, mount: "copy" },
};
