import { isLost } from "@paperclip-k8s/paperclip/runs";
import type { FoundJob } from "../cluster/jobs.ts";
import type { ListedRun } from "../recovery/listed-runs.ts";

/**
 * Lost runs that no later run goes on with, or has gone on with: whoever takes a Job over reports its end and its cost. What a Job still does, or
 * did for a run that was not lost, is not over for this one.
 */
export function lostForGood(runs: readonly ListedRun[], jobs: readonly Pick<FoundJob, "runIds" | "state">[]): ListedRun[] {
  const byId = new Map(runs.map((run) => [run.id, run]));
  const next = new Map<string, ListedRun[]>();
  for (const run of runs) if (run.retryOfRunId !== null) next.set(run.retryOfRunId, [...(next.get(run.retryOfRunId) ?? []), run]);
  const goesOn = (id: string, seen: ReadonlySet<string> = new Set()): boolean =>
    (next.get(id) ?? []).some((each) => !isLost(each) || (!seen.has(each.id) && goesOn(each.id, new Set([...seen, each.id]))));
  const isOthers = ({ id }: ListedRun): boolean =>
    jobs.some(({ runIds, state }) => {
      if (!runIds.includes(id)) return false;
      const owner = byId.get(runIds[0] ?? "");
      return state.kind === "alive" || owner === undefined || !isLost(owner);
    });
  return runs.filter((run) => isLost(run) && !goesOn(run.id) && !isOthers(run));
}
