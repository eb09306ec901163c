import type { Submission } from "./manifest/submission.ts";
import type { RunRequest } from "./request.ts";

/** How long a run waits in each uncertain situation, in ms: here, so that tests can shorten it. How long one request is tried stands where it is made. */
export interface Timeouts {
  /** A pod may stay unscheduled: an autoscaler needs minutes. */
  readonly schedule: number;
  /** A scheduled pod may take this long until its container starts. */
  readonly start: number;
  /** An image that cannot be pulled may still appear. */
  readonly imagePull: number;
  /** A container that cannot be configured may be waiting for an object that is just being made. */
  readonly containerConfig: number;
  /** A volume's Secret, ConfigMap or claim is missing: the kubelet looks again after up to two minutes. */
  readonly missingVolume: number;
  /** A Job without any pod: quota, service account, admission. */
  readonly noPod: number;
  /** After the end was seen, how long to look for what explains it (OOM, eviction): the kubelet's status lags by up to 0.9 s. */
  readonly explain: number;
  /** The pod has ended without an end record: the files are read again and again for this long. */
  readonly drain: number;
  /** Bytes are known to be missing: the files are read again for this long without growth. */
  readonly missing: number;
  /** Asked to cancel, and neither the CLI's end nor the pod's was seen. */
  readonly cancel: number;
  /** Job deleted while its pod still runs: the pod's own grace and some. */
  readonly podOutlivesJob: number;
  /** The node was declared lost and the pod is marked deleted. */
  readonly nodeLoss: number;
  /** From the Job's acceptance: beyond it nothing can be running any more. */
  readonly horizon: number;
  /** Waiting for another run to free the exclusive key. */
  readonly admission: number;
  /** How often the caller is asked about the Job that holds the key. */
  readonly lockDecision: number;
  /** An adopted Job may get its Secret this late. */
  readonly secretless: number;
  /** An adopted Job is live, and no pod of it is seen. */
  readonly reattach: number;
  /** After an outage, until the view of the cluster is up to date again. */
  readonly staleView: number;
  /** Events are read when a pod has not started after this. */
  readonly events: number;
  /** One keepalive per silence of this length. */
  readonly keepalive: number;
}

const SECOND = 1000;

/** A Job's deadline, and time for the end of its pod to be seen. */
export const horizonOf = (deadlineSeconds: number): number => (deadlineSeconds + 120) * SECOND;

export function timeoutsFor(request: RunRequest, submission: Submission): Timeouts {
  return {
    schedule: request.limits.scheduleTimeoutSec * SECOND,
    start: 600 * SECOND,
    imagePull: 60 * SECOND,
    containerConfig: 30 * SECOND,
    missingVolume: 180 * SECOND,
    noPod: 30 * SECOND,
    explain: 3 * SECOND,
    drain: 2 * SECOND,
    missing: 10 * SECOND,
    cancel: (submission.stopGraceSec + 12) * SECOND,
    podOutlivesJob: (submission.stopGraceSec + 60) * SECOND,
    nodeLoss: 60 * SECOND,
    horizon: horizonOf(submission.deadlineSeconds),
    admission: 3600 * SECOND,
    lockDecision: 15 * SECOND,
    secretless: 120 * SECOND,
    reattach: 60 * SECOND,
    staleView: 5 * SECOND,
    events: 3 * SECOND,
    keepalive: 15 * SECOND,
  };
}
