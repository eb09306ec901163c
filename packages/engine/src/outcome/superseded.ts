import type { JobView } from "../kube/views.ts";
import type { RunIdentity } from "./state.ts";

/** The run that has taken this run's Job over; null = nobody has. */
export function supersededBy({ runId, runIdKey, adoptedFromKey, adopted }: RunIdentity, { annotations }: JobView): string | null {
  const owner = annotations[runIdKey];
  if (owner === undefined || owner === runId) return null;
  // A watch that lags still shows whose the Job was before this run took it over: that is nobody's gain.
  if (adopted && !(annotations[adoptedFromKey]?.split(",").includes(runId) ?? false)) return null;
  return owner;
}
