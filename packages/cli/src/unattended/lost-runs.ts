import type { HostApi } from "@paperclip-k8s/paperclip/host-api";
import { isLost } from "@paperclip-k8s/paperclip/runs";
import type { FoundJob } from "../cluster/jobs.ts";
import type { ListedRun } from "../recovery/find/listed-runs.ts";
import { readRecord } from "../recovery/find/run-record.ts";

type SeenJob = Pick<FoundJob, "runIds" | "state">;

/**
 * Lost runs that no later run goes on with, or has gone on with: whoever takes a Job over reports its end and its cost. Left out: runs whose
 * Job is still alive, and runs whose Job now belongs to a run that was not lost, because that one reports it. `runs`: newest first.
 */
export function lostForGood(runs: readonly ListedRun[], jobs: readonly SeenJob[]): ListedRun[] {
  const byId = new Map(runs.map((run) => [run.id, run]));
  const next = new Map<string, ListedRun[]>();
  for (const run of runs) if (run.retryOfRunId !== null) next.set(run.retryOfRunId, [...(next.get(run.retryOfRunId) ?? []), run]);
  const goesOn = (id: string, seen: ReadonlySet<string> = new Set()): boolean =>
    (next.get(id) ?? []).some((each) => mayReport(each) || (!seen.has(each.id) && goesOn(each.id, new Set([...seen, each.id]))));
  const isOthers = ({ id }: ListedRun): boolean =>
    jobs.some(({ runIds, state }) => {
      if (!runIds.includes(id)) return false;
      const owner = byId.get(runIds[0] ?? "");
      return state.kind === "alive" || owner === undefined || !isLost(owner);
    });
  const followed = followedLater(runs);
  return runs.filter((run) => isLost(run) && !followed.has(run.id) && !goesOn(run.id) && !isOthers(run));
}

/** A retry that the host cancelled before it was started, as it does when the issue is closed, has taken nothing over. */
const mayReport = (run: ListedRun): boolean => !isLost(run) && !(run.status === "cancelled" && run.neverStarted);

/** Runs with a later one of the same task and agent that was not lost: that one may have taken their Job over without being their retry. */
function followedLater(runs: readonly ListedRun[]): ReadonlySet<string> {
  const reported = new Set<string>();
  const followed = new Set<string>();
  for (const run of runs) {
    if (run.issueId === null) continue;
    const task = `${run.companyId} ${run.agentId} ${run.issueId}`;
    if (reported.has(task)) followed.add(run.id);
    if (mayReport(run)) reported.add(task);
  }
  return followed;
}

/** Whether a later run could still take the Job of this one over, and report its cost. */
export const hasJob = ({ id }: ListedRun, jobs: readonly SeenJob[]): boolean => jobs.some(({ runIds }) => runIds.includes(id));

/** Asks for each run that may have lost its result, because lists leave results out. `stored`: runs of which an earlier round saw the result. */
export async function withLostResults(host: HostApi, runs: readonly ListedRun[], stored: Set<string>): Promise<ListedRun[]> {
  const asked: ListedRun[] = [];
  for (const run of runs) {
    const isLostResult = run.mayHaveLostResult && !stored.has(run.id) && (await readRecord(host, run.id))?.resultLost === true;
    if (run.mayHaveLostResult && !isLostResult) stored.add(run.id);
    asked.push(isLostResult ? { ...run, resultLost: true } : run);
  }
  return asked;
}
