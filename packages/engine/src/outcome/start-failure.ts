import type { StartFailure } from "../run-outcome.ts";
import type { Timeouts } from "../timeouts.ts";
import { hasStarted } from "./pod-facts.ts";
import { startupProblem } from "./startup-problem.ts";
import { isCurrentView, type NotStarted, type RunState } from "./state.ts";

/** Why this pod will not start, once it has had its time; null = keep waiting. */
export function startFailure(state: RunState, timeouts: Timeouts): NotStarted | null {
  if (state.acceptedAt === null || state.endRecord !== null || state.startRecord !== null || state.ranAt !== null) return null;
  if (hasStarted(state.pod, state.identity.container)) return null;
  const problem = startupProblem(state);
  if (problem?.timeout === null) return { cause: problem.cause, message: problem.message, permanent: problem.permanent };
  // The problem that was seen last may have passed since.
  if (!isCurrentView(state, timeouts)) return null;
  if (problem === null) return unexplained(state, timeouts);
  const limitMs = timeouts[problem.timeout];
  if (state.now - problem.since < limitMs) return null;
  const limit = problem.timeout === "schedule" ? " (scheduleTimeoutSec)" : "";
  return { cause: problem.cause, message: `${problem.message}; gave up after ${seconds(limitMs)}${limit}`, permanent: problem.permanent };
}

/** Nothing names a problem, but the start takes too long. */
function unexplained(state: RunState, timeouts: Timeouts): NotStarted | null {
  const { job, pod, acceptedAt, scheduledAt, now } = state;
  const waited = (since: number | null, limitMs: number) => since !== null && now - since >= limitMs;
  const failed = (cause: StartFailure, message: string): NotStarted => ({ cause, message, permanent: false });
  if (pod === null) {
    const expected = job !== null && !job.suspended && job.active === 0 && state.jobGoneAt === null;
    // A pod may still come: a Job controller that comes back after an outage creates its pods late.
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
