import type { StartFailure } from "../run-outcome.ts";
import type { Timeouts } from "../timeouts.ts";
import { hasStarted } from "./pod-facts.ts";
import { isCurrentView } from "./stale-view.ts";
import { startupProblem } from "./startup-problem.ts";
import type { RunState } from "./state.ts";

export interface NotStarted {
  readonly cause: StartFailure;
  readonly message: string;
  readonly permanent: boolean;
}

/** Why this pod will not start, once patience with it has run out; null = keep waiting. */
export function startFailure(state: RunState, timeouts: Timeouts): NotStarted | null {
  if (state.acceptedAt === null || state.endRecord !== null || state.startRecord !== null || state.ranAt !== null) return null;
  if (hasStarted(state.pod, state.identity.container)) return null;
  const trouble = startupProblem(state);
  if (trouble?.patience === null) return { cause: trouble.cause, message: trouble.message, permanent: trouble.permanent };
  // What the cluster showed last may have passed since.
  if (!isCurrentView(state, timeouts)) return null;
  if (trouble === null) return silence(state, timeouts);
  const patience = timeouts[trouble.patience];
  if (state.now - trouble.since < patience) return null;
  const limit = trouble.patience === "schedule" ? " (scheduleTimeoutSec)" : "";
  return { cause: trouble.cause, message: `${trouble.message}; gave up after ${seconds(patience)}${limit}`, permanent: trouble.permanent };
}

/** Nobody says what is wrong; only time tells that something is. */
function silence(state: RunState, timeouts: Timeouts): NotStarted | null {
  const { job, pod, acceptedAt, scheduledAt, now } = state;
  const waited = (since: number | null, patience: number) => since !== null && now - since >= patience;
  const failed = (cause: StartFailure, message: string): NotStarted => ({ cause, message, permanent: false });
  if (pod === null) {
    const expected = job !== null && !job.suspended && job.active === 0 && state.jobGoneAt === null;
    // Not proved to be impossible: a Job controller that comes back after an outage makes its pods late.
    return expected && waited(acceptedAt, timeouts.schedule)
      ? failed("no-pod", `the Job made no pod in ${seconds(timeouts.schedule)}, and no event says why`)
      : null;
  }
  if (scheduledAt === null && pod.conditions.PodScheduled?.status !== "True")
    return waited(acceptedAt, timeouts.schedule) ? failed("unschedulable", `no node took the pod in ${seconds(timeouts.schedule)}`) : null;
  return waited(scheduledAt, timeouts.start)
    ? failed("container-config", `the container did not start within ${seconds(timeouts.start)}, and no event says why`)
    : null;
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
