import type { Policy } from "./policy.ts";
import type { RunState } from "./state.ts";

/** What the cluster shows is how it is. Just after an outage it still shows how it was: what happened meanwhile is told behind the news that it is back. */
export function isInSight({ apiLostAt, apiBackAt, now }: RunState, policy: Policy): boolean {
  return apiLostAt === null && (apiBackAt === null || now - apiBackAt >= policy.sight);
}
