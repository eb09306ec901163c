import { dirname } from "node:path/posix";
import {
  type Argument,
  type CliDefaults,
  type FinalLine,
  type Programs,
  type RelayCredentials,
  type RelaySpec,
  type RunFiles,
  type SeedSpec,
  type StateSpec,
  startFileOf,
} from "@paperclip-k8s/runner";

/** One run, complete before anything is created. Plain data: nothing in it is looked up later. */
export interface RunRequest {
  readonly runId: string;
  /** What the Job's name is made of; deterministic, so that a second create answers 409. */
  readonly name: JobNameParts;
  /** Runs with the same key never overlap, nor does one whose key is a path with one above or below it; null = this run shares nothing with others. */
  readonly exclusive: string | null;
  /** Annotations of Jobs that do the same work: whatever their keys, such a Job and this run never overlap. */
  readonly sameWork?: Readonly<Record<string, string>>;
  /** Labels of legacy Jobs: those that were not made by this engine have no annotation with a key, and hold the whole key. */
  readonly legacyLabels?: Readonly<Record<string, string>>;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly keys: RunKeys;
  /** Label selector of all Jobs and Pods of this kind, for the shared list-watch. */
  readonly selector: string;
  readonly container: RunContainer;
  /** `{ file }` stands for the path of one of `files` in the pod. */
  readonly argv: readonly [string, ...Argument[]];
  /** The CLI's stdin, byte for byte; a text is written as UTF-8, and needs no copy of its own for as long as the run goes on. */
  readonly stdin: string | Uint8Array;
  /** Files mounted read-only beside the runner, by name. */
  readonly files: Readonly<Record<string, string>>;
  readonly env: RunEnv;
  readonly resources: { readonly requests: Readonly<Record<string, string>>; readonly limits: Readonly<Record<string, string>> };
  readonly scheduling: RunScheduling;
  readonly volumes: RunVolumes;
  readonly user: { readonly uid: number; readonly gid: number };
  readonly limits: RunLimits;
  readonly output: {
    /** Mount point of the shared volume: one process of the server serves all runs below it. */
    readonly root: string;
    /** Path of the output file; meta file and lock file stand beside it. A folder whose name ends in `.pod` is the run's own and goes with them. */
    readonly path: string;
    /** Where the last lines stay when the files go, and how many bytes of them; absent = nowhere. */
    readonly keep?: KeptOutput | null;
    /** A file beside it that tells something to whoever continues the run; absent = none. */
    readonly note?: NoteFile;
  };
  /** Folders on the shared volume that must be there and writable for the pod's user. */
  readonly folders: readonly string[];
  readonly finalLine: FinalLine | null;
  /** Files of the shared volume that the pod's private home begins with. */
  readonly seed?: SeedSpec | null;
  /** What the CLI gets in a pod that has no settings of its own for it; absent = nothing. */
  readonly defaults?: readonly CliDefaults[];
  /** What the CLI keeps, restored from and saved to one of `folders`. */
  readonly state?: StateSpec | null;
  /** The CLI reaches its API through the runner, with the token of the run that owns the Job at that time. */
  readonly relay?: (Omit<RelaySpec, "credentialsFile"> & { readonly credentials: RelayCredentials }) | null;
  /** Files of `files` that are Node scripts and stand, under these names, before the image's programs in the CLI's PATH; null or absent = none. */
  readonly programs?: Programs | null;
  /** From which the key of each run's records is derived, so that another server derives it again; null or absent = records are not signed. */
  readonly recordSecret?: Uint8Array | null;
  /** Where the pod tells that there is output to read; absent = at the address that this server has in the cluster's network. */
  readonly wakeUps?: WakeUpRule;
  /** What the operator wants of every pod; absent = a root filesystem that nobody writes to, and nothing else. */
  readonly pod?: PodRules;
  /** What the pod has besides the run's own container; null or absent = nothing. */
  readonly template?: PodTemplate | null;
  /** Where the runner's program and the CLI come from, if not from the image; null or absent = they are in the image. */
  readonly tools?: RunTools | null;
  /** Keep Job, Secret and files after the end, for debugging. */
  readonly retain: boolean;
  /** It goes on with an earlier run, whose Job may be there. */
  readonly continues?: boolean;
  /** The Job of the run that it continues is there: that one is adopted, and none is made. */
  readonly adoptsOnly?: boolean;
}

/** `off`: output is found by polling alone. `port`: the first of a few, of which each reader of this server takes one; absent = any. */
export type WakeUpRule = "off" | { readonly address: string; readonly port?: number };

export interface NoteFile {
  readonly path: string;
  readonly text: string;
}

export interface KeptOutput {
  readonly path: string;
  readonly bytes: number;
  /** Begins the names of files that are not complete yet. */
  readonly unfinished: string;
}

/** Names of labels and annotations the engine writes and compares; the caller chooses them. */
export interface RunKeys {
  /** Label and annotation that hold the run id. */
  readonly runId: string;
  /** Annotation that identifies one create: a Job whose create got no answer is ours if it matches. */
  readonly nonce: string;
  /** Annotation that marks a Job started with our runner. */
  readonly runner: string;
  /** Annotation that holds the exclusive key. */
  readonly exclusive: string;
  /** Annotations for a run that adopts the Job: where its output is, which run it was started for, which runs have owned it since. */
  readonly output: string;
  readonly firstRun: string;
  readonly adoptedFrom: string;
  /** Annotation that says how the run's records are signed; a Job without it has unsigned ones. */
  readonly records: string;
  /** Annotation with the seconds that the CLI has, grace included; a run without a time limit has none. */
  readonly timeLimit: string;
}

export interface JobNameParts {
  readonly prefix: string;
  /** Slugged to 16 characters each. */
  readonly parts: readonly string[];
  /** Hashed whole into the suffix, so that names of cut slugs differ. */
  readonly identity: string;
}

interface RunContainer {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy: "Always" | "IfNotPresent" | "Never";
  readonly workingDir: string;
  /** Program in the image that runs the runner: `["node"]`. */
  readonly runtime: readonly [string, ...string[]];
}

/** An image with the runner's program and CLIs that start in any other image. */
export interface RunTools {
  readonly image: string;
  /** `copy`: an init container copies what the run needs. `image-volume`: the image itself is mounted, where cluster and nodes can do that. */
  readonly mount: "copy" | "image-volume";
  /** What the run needs of it, by name, besides the runner's own program. */
  readonly programs: readonly string[];
}

export interface RunEnv {
  /** Stands in the Job spec: nothing secret. `$` is escaped by the manifest. */
  readonly plain: Readonly<Record<string, string>>;
  /** Goes into the run's Secret. */
  readonly secret: Readonly<Record<string, string>>;
  /** By reference to Secrets or ConfigMaps of the namespace. */
  readonly references: readonly EnvReference[];
  /** Whole Secrets and ConfigMaps of the namespace; any other value of a name wins over theirs. */
  readonly from?: readonly EnvSource[];
  /** Names `from` may bring and the run must not see: set empty, since Kubernetes cannot leave one out. */
  readonly hidden?: readonly string[];
}

export interface EnvReference {
  readonly name: string;
  readonly valueFrom: Readonly<Record<string, unknown>>;
}

/** Every key of an object becomes a variable. */
export type EnvSource = {
  readonly kind: "secret" | "configMap";
  readonly name: string;
  readonly prefix: string;
  readonly optional: boolean;
};

interface RunScheduling {
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Readonly<Record<string, unknown>>[];
  /** Its token is mounted only when this is set. */
  readonly serviceAccountName: string | null;
  readonly imagePullSecrets: readonly string[];
  readonly dnsConfig: Readonly<Record<string, unknown>> | null;
  /** The cluster's default unless set. */
  readonly dnsPolicy?: string | null;
}

interface RunVolumes {
  /** The volume server and pod share, at the same absolute path on both sides. */
  readonly shared: SharedVolume;
  /** Private, empty at the start, gone with the pod. */
  readonly scratch: readonly ScratchVolume[];
  /** Secrets and ConfigMaps as files: read-only, and one that is gone by now does not keep the pod from starting. */
  readonly secrets?: readonly ObjectVolume[];
  readonly configMaps?: readonly ObjectVolume[];
  /** Volumes of the run's own that outlive it. */
  readonly claims?: readonly ClaimVolume[];
}

interface ScratchVolume {
  readonly name: string;
  readonly mountPath: string;
  /** Further places where the same folder is seen. */
  readonly alsoAt?: readonly string[];
  readonly sizeLimit: string;
}

/** A PersistentVolumeClaim whose runs take turns: ReadWriteOnce will do. */
export interface ClaimVolume {
  readonly claimName: string;
  readonly mountPath: string;
  /** How it is made if it is not there; null = it must be there. One that is there is used as it is. */
  readonly create: NewClaim | null;
  /** Have the volume given to the pod's group before the run, as is done when the claim is made: its pod could not write to it. */
  readonly setOwnership: boolean;
}

export interface NewClaim {
  readonly storageClass: string;
  /** As Kubernetes writes it: "1Gi". */
  readonly capacity: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface SharedVolume {
  readonly claimName: string;
  readonly mountPath: string;
  readonly subPath: string | null;
  /** Folders below the mount path that the pod may only read; they are there. */
  readonly readOnly?: readonly string[];
  /** The folders that the pod mounts, each at its own path, instead of the whole volume; null or absent = the whole volume. */
  readonly mounts?: readonly SharedMount[] | null;
}

/** A folder of the shared volume, at the same path in the pod. No agent can write to the folder above it. */
export interface SharedMount {
  readonly path: string;
  readonly readOnly: boolean;
}

export interface ObjectVolume {
  /** Name of the Secret or ConfigMap. */
  readonly name: string;
  readonly mountPath: string;
  readonly subPath: string | null;
  /** Null = every key under its own name. */
  readonly items: readonly ObjectVolumeItem[] | null;
  /** Null = the cluster's default, 0644. */
  readonly defaultMode: number | null;
  /** Nobody misses it where it is not there. */
  readonly optional?: true;
}

export interface ObjectVolumeItem {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

export interface PodRules {
  readonly runtimeClassName: string | null;
  /** False = a user namespace of the pod's own; null = the cluster's default. */
  readonly hostUsers: boolean | null;
  readonly priorityClassName: string | null;
  readonly readOnlyRootFilesystem: boolean;
  /** Of the pod only. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** One object of a pod's spec, as Kubernetes writes it. */
type Named = { readonly name: string } & Readonly<Record<string, unknown>>;

/** Further parts of a pod. They are added to it; nothing of the run's own can be replaced. */
export interface PodTemplate {
  /** Run before the run's container, one after the other; with `restartPolicy: Always` from then on beside it. */
  readonly initContainers: readonly Named[];
  /** Run beside the run's container: each has started, its startup probe included, before the next one and before the run's. */
  readonly sidecars: readonly Named[];
  readonly volumes: readonly Named[];
  /** For the run's own container; one of its own variables wins over one of the same name. */
  readonly volumeMounts: readonly (Named & { readonly mountPath: string })[];
  readonly env: readonly Named[];
  readonly affinity?: Readonly<Record<string, unknown>>;
  readonly topologySpreadConstraints?: readonly unknown[];
  readonly hostAliases?: readonly unknown[];
  readonly schedulerName?: string;
}

export interface RunLimits {
  /** The CLI is ended when its output is longer; absent = no limit. */
  readonly outputBytes?: number;
  /** 0 = none; counted from the CLI's start and enforced in the pod. */
  readonly timeoutSec: number;
  /** Backstop when `timeoutSec` is 0. */
  readonly maxRunSec: number;
  /** SIGTERM to SIGKILL at the time limit. */
  readonly graceSec: number;
  /** How long a pod whose CLI has ended waits for a volume that does not take the rest; absent = four minutes. */
  readonly volumeWaitSec?: number;
  /** How long a pod may stay unscheduled. */
  readonly scheduleTimeoutSec: number;
  /** How long the Job object outlives its end when no server deletes it. */
  readonly ttlSeconds: number;
}

/** The files of a run: meta file and lock file stand beside the output file. */
export function runFiles(outputPath: string): RunFiles {
  return { output: outputPath, meta: `${outputPath}.meta`, lock: `${outputPath}.claim` };
}

/** Ends the name of a folder that holds the files of one run and nothing else, so that its pod need not see those of others. */
const RUN_FOLDER = /\/[^/]+\.pod$/;

/** What to remove when the run's files go: its folder, or the files where earlier versions wrote them among those of other runs. */
export function removablePaths(files: RunFiles): readonly string[] {
  const { output, meta, lock } = files;
  const folder = dirname(output);
  return RUN_FOLDER.test(folder) ? [folder] : [output, meta, lock, startFileOf(files)];
}
