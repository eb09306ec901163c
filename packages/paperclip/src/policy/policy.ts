// The operator's word about what agents may use. An agent can change its own settings, so its settings are checked against this.

/** What the operator's policy file says; a file leaves out what it does not change. */
export interface Policy {
  /** Path of the file; null = there is none, and these are the defaults. */
  readonly source: string | null;
  /** What a setting is if an agent does not set it; null = as without a policy. These values are always allowed. */
  readonly defaults: PolicyDefaults;
  readonly allow: PolicyAllow;
  readonly limits: PolicyLimits;
  readonly force: ForcedPod;
  readonly volume: PolicyVolume;
  readonly seeds: SeedSource | null;
}

export interface PolicyDefaults {
  readonly kubeconfig: string | null;
  readonly namespace: string | null;
  readonly image: string | null;
  readonly serviceAccountName: string | null;
  readonly dataClaim: string | null;
  readonly dataPath: string | null;
  readonly serverContainer: string | null;
  readonly runtimeClassName: string | null;
}

/** A name, or a pattern in which `*` stands for any characters. */
type Pattern = string;

export interface PolicyAllow {
  /** Absolute paths of kubeconfigs on the server; never below the data path. */
  readonly kubeconfigs: readonly Pattern[];
  /** Besides the namespace of the server's own pod, or the default one. */
  readonly namespaces: readonly Pattern[];
  readonly serviceAccounts: readonly Pattern[];
  /** Claims for `dataClaim`, besides the one that the server itself mounts. */
  readonly claims: readonly Pattern[];
  readonly images: readonly Pattern[];
  /** Values by label of the node. */
  readonly nodeSelectors: Readonly<Record<Pattern, readonly Pattern[]>>;
  /** Keys of taints. */
  readonly tolerations: readonly Pattern[];
  /** Keys of labels. */
  readonly labels: readonly Pattern[];
  readonly runtimeClasses: readonly Pattern[];
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
export interface PolicyLimits {
  readonly cpu: string;
  readonly memory: string;
  readonly ephemeralStorage: string;
  readonly storageCapacity: string;
  readonly runSec: number;
  readonly graceSec: number;
  readonly scheduleTimeoutSec: number;
  readonly ttlSecondsAfterFinished: number;
  readonly outputBytes: number;
}

/** What every pod gets, whatever the agent's settings say. */
export interface ForcedPod {
  readonly runtimeClassName: string | null;
  /** False = in a user namespace of its own; null = the cluster's default. */
  readonly hostUsers: boolean | null;
  readonly priorityClassName: string | null;
  readonly readOnlyRootFilesystem: boolean;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface PolicyVolume {
  /** `scoped`: a pod mounts what its run needs. `whole`: agents may mount the whole claim, as in earlier versions. */
  readonly mount: "scoped" | "whole";
  /** Further folders of the volume for agents' pods, absolute; `*` stands for one path component. */
  readonly paths: readonly { readonly path: string; readonly readOnly: boolean }[];
}

/** Files that each private home begins with: a Secret in the agents' namespace, or a folder that agents' pods cannot write. */
export type SeedSource = { readonly secret: string } | { readonly folder: string };

const DAY = 86_400;

export const DEFAULT_POLICY: Policy = {
  source: null,
  defaults: {
    kubeconfig: null,
    namespace: null,
    image: null,
    serviceAccountName: null,
    dataClaim: null,
    dataPath: null,
    serverContainer: null,
    runtimeClassName: null,
  },
  allow: {
    kubeconfigs: [],
    namespaces: [],
    serviceAccounts: [],
    claims: [],
    images: ["*"],
    nodeSelectors: {},
    tolerations: [],
    labels: [],
    runtimeClasses: [],
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
    ttlSecondsAfterFinished: 30 * DAY,
    outputBytes: 1024 ** 3,
  },
  force: {
    runtimeClassName: null,
    hostUsers: null,
    priorityClassName: null,
    readOnlyRootFilesystem: true,
    nodeSelector: {},
    labels: {},
    annotations: {},
  },
  volume: { mount: "scoped", paths: [] },
  seeds: null,
};
