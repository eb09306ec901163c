// What the engine keeps of a Job and of a Pod: a parsed Pod costs 24 KiB, its view half of one.

export interface JobView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly createdAt: string | null;
  readonly deletedAt: string | null;
  readonly active: number;
  readonly suspended: boolean;
  /** `spec.activeDeadlineSeconds`; null = it may run for ever. */
  readonly deadlineSeconds: number | null;
  /** Of its first container. */
  readonly image: string | null;
  /** Conditions with status True, by type. */
  readonly conditions: Readonly<Record<string, Condition>>;
}

export function isFinished({ conditions }: Pick<JobView, "conditions">): boolean {
  return "Complete" in conditions || "Failed" in conditions;
}

export interface Condition {
  readonly reason: string | null;
  readonly message: string | null;
  readonly at: string | null;
}

export interface PodView {
  readonly name: string;
  readonly uid: string;
  /** Name and uid of the Job that owns it. */
  readonly jobName: string;
  readonly jobUid: string;
  readonly node: string | null;
  readonly createdAt: string | null;
  readonly deletedAt: string | null;
  readonly phase: string;
  /** `status.reason` and `status.message`: Evicted, DeadlineExceeded, NodeLost. */
  readonly reason: string | null;
  readonly message: string | null;
  /** All conditions by type, with their status. */
  readonly conditions: Readonly<Record<string, Condition & { readonly status: string }>>;
  readonly containers: readonly ContainerView[];
  readonly initContainers: readonly ContainerView[];
  /** By container name, then by field: `{ agent: { "limits.memory": "512Mi" } }`. */
  readonly resources: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Names of the claims it mounts. */
  readonly claims: readonly string[];
}

export type ContainerState =
  | { readonly kind: "waiting"; readonly reason: string | null; readonly message: string | null }
  | { readonly kind: "running"; readonly startedAt: string | null }
  | {
      readonly kind: "terminated";
      readonly exitCode: number;
      readonly signal: number | null;
      readonly reason: string | null;
      readonly message: string | null;
      readonly startedAt: string | null;
      readonly finishedAt: string | null;
    };

export interface ContainerView {
  readonly name: string;
  readonly image: string;
  readonly state: ContainerState;
}

/** A PersistentVolumeClaim. */
export interface ClaimView {
  readonly name: string;
  /** Bound, Pending, Lost. */
  readonly phase: string;
  readonly accessModes: readonly string[];
  readonly deletedAt: string | null;
}

export interface EventView {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly at: string | null;
}

/** What a watch of the cluster can report about one Job. */
export type ClusterFact =
  | { readonly kind: "job"; readonly job: JobView }
  /** The API server says that the Job object is not there (any more). */
  | { readonly kind: "job-gone" }
  | { readonly kind: "pod"; readonly pod: PodView }
  | { readonly kind: "pod-gone"; readonly pod: PodView }
  /** The API server cannot be reached, does not answer or refuses, or is back: a fact of its own, never "gone". `forPeople`: the error can be logged as it is. */
  | { readonly kind: "api-lost"; readonly error: string; readonly forPeople?: boolean }
  | { readonly kind: "api-back" };
