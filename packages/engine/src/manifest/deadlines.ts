import type { RunLimits, RunRequest } from "../request.ts";

/** How long a scheduled pod may take to start its container: image pulls and volume mounts. */
const START_TIMEOUT_SEC = 600;
/** How long the output may take to reach the volume once the CLI has ended. */
export const DRAIN_SEC = 10;
/** The same where nobody stops the pod: an NFS server that was restarted answers after 90 s. */
export const VOLUME_WAIT_SEC = 240;
export const volumeWaitSec = (limits: RunLimits): number => limits.volumeWaitSec ?? VOLUME_WAIT_SEC;
/** A host waits a minute for a cancelled run: the CLI gets half of it. */
const MAX_STOP_GRACE_SEC = 30;

export function stopGraceSec(limits: RunLimits): number {
  return Math.min(limits.graceSec, MAX_STOP_GRACE_SEC);
}

/** Between SIGTERM and SIGKILL of the whole pod: the CLI's grace, then the runner's own flush. */
export function podGraceSec(limits: RunLimits): number {
  return stopGraceSec(limits) + DRAIN_SEC + 5;
}

/** The Job's own deadline comes after every other limit, because it deletes the pod and with it the exit code. */
export function deadlineSeconds({ limits, state = null }: Pick<RunRequest, "limits" | "state">): number {
  const work = limits.timeoutSec > 0 ? limits.timeoutSec : limits.maxRunSec;
  const kept = state === null ? 0 : state.restoreSec + state.saveSec;
  return Math.ceil(limits.scheduleTimeoutSec + START_TIMEOUT_SEC + work + limits.graceSec + volumeWaitSec(limits) + kept);
}
