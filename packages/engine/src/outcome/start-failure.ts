import type { OutcomeKind } from "../run-outcome.ts";
import type { Timeouts } from "../timeouts.ts";
import { neverStarted, seconds } from "./admission.ts";
import { believedEnd } from "./ended.ts";
import { hasStarted, unfinishedInit } from "./pod-facts.ts";
import { startupProblem } from "./startup-problem.ts";
import { isCurrentView, type RunState } from "./state.ts";

/** Why this pod will not start, once it has had its time; null = keep waiting. */
export function startFailure(state: RunState, timeouts: Timeouts): OutcomeKind | null {
  if (state.acceptedAt === null || believedEnd(state) !== null || state.startRecord !== null || state.ranAt !== null) return null;
  if (hasStarted(state.pod, state.identity.container)) return null;
  const problem = startupProblem(state);
  if (problem?.timeout === null) return neverStarted(problem.cause, problem.message, problem.permanent);
  // The problem that was seen last may have passed since.
  if (!isCurrentView(state, timeouts)) return null;
  if (problem === null) return unexplained(state, timeouts);
  const limitMs = timeouts[problem.timeout];
  if (state.now - problem.since < limitMs) return null;
  const limit = problem.timeout === "schedule" ? " (scheduleTimeoutSec)" : "";
  return neverStarted(problem.cause, `${problem.message}; gave up after ${seconds(limitMs)}${limit}`, problem.permanent);
}

/** Nothing names a problem, but the start takes too long. */
function unexplained({ job, jobGoneAt, pod, acceptedAt, scheduledAt, now }: RunState, { schedule, start }: Timeouts): OutcomeKind | null {
  const waited = (since: number | null, limitMs: number) => since !== null && now - since >= limitMs;
  if (pod === null) {
    const expected = job !== null && !job.suspended && job.active === 0 && jobGoneAt === null;
    // A pod may still come: a Job controller that comes back after an outage creates its pods late.
    if (!expected || !waited(acceptedAt, schedule)) return null;
    return neverStarted("no-pod", `the Job made no pod in ${seconds(schedule)}, and no event says why`);
  }
  if (scheduledAt === null && pod.conditions.PodScheduled?.status !== "True")
    return waited(acceptedAt, schedule) ? neverStarted("unschedulable", `no node took the pod in ${seconds(schedule)}`) : null;
  if (!waited(scheduledAt, start)) return null;
  const init = unfinishedInit(pod);
  if (init !== null) {
    const what = init.sidecar ? `sidecar container ${init.name} has not started` : `init container ${init.name} has not ended`;
    const probe = init.sidecar && init.state.kind === "running" ? ": its startup probe has not passed" : "";
    return neverStarted("init-failed", `${what} within ${seconds(start)}, and the run's container comes after it${probe}`);
  }
  return neverStarted("container-config", `the container did not start within ${seconds(start)}, and no event says why`);
}
