import type { Condition, KubeObject } from "./object.ts";
import type { PodSpec } from "./pod.ts";

export interface JobSpec {
  parallelism?: number;
  completions?: number;
  backoffLimit?: number;
  activeDeadlineSeconds?: number;
  ttlSecondsAfterFinished?: number;
  suspend?: boolean;
  completionMode?: string;
  podReplacementPolicy?: string;
  selector?: { matchLabels?: Record<string, string> };
  template: { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec: PodSpec };
  [field: string]: unknown;
}

export interface JobStatus {
  conditions?: Condition[];
  startTime?: string;
  completionTime?: string;
  active?: number;
  succeeded?: number;
  failed?: number;
  terminating?: number;
  ready?: number;
  uncountedTerminatedPods?: Record<string, string[]>;
}

export interface Job extends KubeObject {
  spec: JobSpec;
  status: JobStatus;
}

// Present on a pod until the Job has counted it.
export const trackingFinalizer = "batch.kubernetes.io/job-tracking";
