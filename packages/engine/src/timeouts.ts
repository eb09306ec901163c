import { podGraceSec, VOLUME_WAIT_SEC } from "./manifest/deadlines.ts";
import type { Submission } from "./manifest/submission.ts";
import type { RunRequest } from "./request.ts";

const SECOND = 1000;
/** How long a server waits for the volume of a run that has ended. */
const VOLUME_BACK_SEC = 300;

/**
 * How long another Job is waited for: its own limit and so much more, in which first its pod and then its server may wait for the volume, or as
 * long as one without a limit is; and one after the other at most.
 */
export const JOB_WAIT_SEC = { pastLimit: VOLUME_WAIT_SEC + VOLUME_BACK_SEC + 120, withoutLimit: 3600, most: 86_400 } as const;

/** A Job's deadline, and time for the end of its pod to be seen. */
export const horizonOf = (deadlineSeconds: number): number => (deadlineSeconds + 120) * SECOND;

/** How long a run waits in each uncertain situation, in ms: here, so that tests can shorten it. How long one request is tried stands where it is made. */
export type Timeouts = Readonly<ReturnType<typeof timeoutsFor>>;

export function timeoutsFor(request: RunRequest, submission: Submission) {
  return {
    /** A pod may stay unscheduled: an autoscaler needs minutes. */
    schedule: request.limits.scheduleTimeoutSec * SECOND,
    /** A scheduled pod may take this long until its container starts. */
    start: 600 * SECOND,
    /** An image that cannot be pulled may still appear. */
    imagePull: 60 * SECOND,
    /** A container that cannot be configured may be waiting for an object that is just being made. */
    containerConfig: 30 * SECOND,
    /** A sidecar that ends before the run's container can start may do better the next time. */
    sidecar: 60 * SECOND,
    /** A volume's Secret, ConfigMap or claim is missing: the kubelet looks again after up to two minutes. */
    missingVolume: 180 * SECOND,
    /** A Job without any pod: quota, service account, admission. */
    noPod: 30 * SECOND,
    /** After the end was seen, how long to look for what explains it (OOM, eviction): the kubelet's status lags by up to 0.9 s. */
    explain: 3 * SECOND,
    /** The pod has ended without an end record: the files are read again and again for this long. */
    drain: 2 * SECOND,
    /** Bytes are known to be missing: the files are read again for this long without growth. */
    missing: 10 * SECOND,
    /** The run has ended, and the volume does not answer: an NFS server that was restarted takes 90 s. */
    volumeBack: VOLUME_BACK_SEC * SECOND,
    /** Asked to cancel, and neither the CLI's end nor the pod's was seen: by then the kubelet has killed the pod. */
    cancel: (podGraceSec(request.limits) + 5) * SECOND,
    /** Job deleted while its pod still runs: the pod's own grace and some. */
    podOutlivesJob: (submission.stopGraceSec + 60) * SECOND,
    /** The node was declared lost and the pod is marked deleted. */
    nodeLoss: 60 * SECOND,
    /** From the Job's acceptance: beyond it nothing can be running any more. */
    horizon: horizonOf(submission.deadlineSeconds),
    /** Waiting for a Job without a time limit to free the exclusive key; one with a limit is waited for until its end must have been seen. */
    admission: JOB_WAIT_SEC.withoutLimit * SECOND,
    /** Waiting for one such Job after the other: others may be faster each time. */
    admissionMost: JOB_WAIT_SEC.most * SECOND,
    /** How often the caller is asked about the Job that holds the key. */
    lockDecision: 15 * SECOND,
    /** An adopted Job may get its Secret this late. */
    secretless: 120 * SECOND,
    /** An adopted Job is live, and no pod of it is seen. */
    reattach: 60 * SECOND,
    /** After an outage, until the view of the cluster is up to date again. */
    staleView: 5 * SECOND,
    /** Nothing was noticed for so long, not even the ticks of every 2.5 s: this process was frozen or got no CPU. */
    standstill: 6 * SECOND,
    /** Events are read when a pod has not started after this. */
    events: 3 * SECOND,
    /** A silence of this length is logged; the next ones are twice as long. */
    keepalive: 30 * SECOND,
    /** The longest silence in the log: what a host shows of a run that says nothing is forgotten after 90 s, and the run given up after some minutes. */
    keepaliveMost: 80 * SECOND,
  };
}
