import { mainContainer } from "./pod-facts.ts";
import type { RunState } from "./state.ts";

/** Longer than a view of the cluster stays stale after an outage. */
const BACK_MS = 60_000;

/** The container runs, and nothing was seen that time alone could make the run's end: only its deadline and its silence are counted. */
export function isUneventful(state: RunState): boolean {
  const { job, pod, ranAt, apiBackAt, now } = state;
  if (job === null || ranAt === null || job.deletedAt !== null || Object.keys(job.conditions).length > 0) return false;
  const { endRecord, endedAt, apiLostAt, podDeletionSeenAt, podGoneAt, jobGoneAt, cancel, detach, stalled } = state;
  const events = [endRecord, endedAt, apiLostAt, podDeletionSeenAt, podGoneAt, jobGoneAt, cancel, detach, stalled];
  if (events.some((event) => event !== null) || (apiBackAt !== null && now - apiBackAt < BACK_MS)) return false;
  return mainContainer(pod, state.identity.container)?.state.kind === "running";
}
