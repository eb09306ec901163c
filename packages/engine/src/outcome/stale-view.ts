import type { Timeouts } from "../timeouts.ts";
import type { RunState } from "./state.ts";

/** What the cluster shows is how it is. Just after an outage it still shows how it was: what happened meanwhile is told behind the news that it is back. */
export function isCurrentView({ apiLostAt, apiBackAt, now }: RunState, timeouts: Timeouts): boolean {
  return apiLostAt === null && (apiBackAt === null || now - apiBackAt >= timeouts.staleView);
}
