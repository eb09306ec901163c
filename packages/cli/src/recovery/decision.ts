import type { FoundEnd } from "@paperclip-k8s/engine";
import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { isLost } from "@paperclip-k8s/paperclip/runs";
import type { Place } from "../arguments.ts";
import { howEnded, jobState } from "../cluster/job-state.ts";
import type { FoundJob } from "../cluster/jobs.ts";
import { type HeldIssue, isFinished } from "./held-issues.ts";
import { readLastEnd } from "./last-attempt.ts";
import { type Reconciliation, reconcile } from "./reconciliation.ts";

export interface RecoveryDecision {
  readonly issue: HeldIssue;
  /** What became of the Job, for people. */
  readonly summary: string;
  /** What may be stated to the host now, which releases the issue; null = nothing. */
  readonly reconciliation: Reconciliation | null;
}

/** Runs that failed by themselves are released too if somebody named their issues. */
type DecisionOptions = Place & { readonly issues: readonly string[]; readonly secret: Uint8Array | null };

/** Looks for the run's Job, else for the records it left on the volume, and decides whether its issue can be released. */
export async function decideOn(issue: HeldIssue, jobs: readonly FoundJob[], options: DecisionOptions): Promise<RecoveryDecision> {
  const found = jobsOf(issue, jobs);
  const lastEnd = found.length === 0 ? await readLastEnd(issue, options) : null;
  return decide(issue, found, { lastEnd, isNamed: options.issues.length > 0, now: new Date() });
}

/** Its own, else the one it was to take over: a task's Job has the same name for all its runs, so while that one is there it has no other. */
export function jobsOf({ id, run, earlier }: HeldIssue, jobs: readonly FoundJob[]): FoundJob[] {
  const own = jobs.filter(({ runIds }) => runIds.includes(run.id));
  if (own.length > 0) return own;
  const isOfTask = ({ job }: FoundJob) => job.annotations[ANNOTATION.taskId] === id;
  return jobs.filter((found) => isOfTask(found) && found.runIds.some((each) => earlier.includes(each)));
}

export interface DecisionFacts {
  /** The end record of a run whose Job is gone. */
  readonly lastEnd: FoundEnd | null;
  readonly isNamed: boolean;
  readonly now: Date;
}

export function decide(issue: HeldIssue, found: readonly FoundJob[], { lastEnd, isNamed, now }: DecisionFacts): RecoveryDecision {
  const unfinished = found.find(({ state }) => state.kind === "alive") ?? found.find(({ state }) => state.kind === "unknown");
  const one = unfinished ?? found[0];
  const decision = one === undefined ? withoutJob(issue, lastEnd, now) : withJob(issue, one, now);
  if (decision.reconciliation === null) return decision;
  const hold = (why: string): RecoveryDecision => ({ ...decision, reconciliation: null, summary: `${decision.summary}; ${why}` });
  if (issue.actionId === null) return hold(`the host waits for its own clean-up (${issue.cause})`);
  if (isFinished(issue)) return hold(`the issue is ${issue.status}: releasing would reopen it`);
  if (!isNamed && !isLost(issue.run)) return hold(`not lost by a restart: --issue ${issue.identifier} starts it again`);
  return decision;
}

function withJob(issue: HeldIssue, { namespace, job, ours, runIds, state }: FoundJob, now: Date): RecoveryDecision {
  const place = `${namespace}/${job.name}`;
  if (!ours) return { issue, summary: `${place} was not started by this version; look at it by hand`, reconciliation: null };
  const summary = state.kind === "ended" ? `ended: the agent ${howEnded(state)}; ${place}` : `${state.kind}: ${state.why}; ${place}`;
  const runId = runIds.includes(issue.run.id) ? issue.run.id : `${runIds[0]}, which run ${issue.run.id} was to go on with,`;
  return { issue, summary, reconciliation: reconcile(state, { runId, namespace, jobName: job.name, jobUid: job.uid }, now) };
}

function withoutJob(issue: HeldIssue, lastEnd: FoundEnd | null, now: Date): RecoveryDecision {
  const record = lastEnd?.record ?? null;
  const ends = lastEnd?.proved ? { endRecord: record, claimed: null } : { endRecord: null, claimed: record };
  const state = jobState({ job: null, pods: [], container: "", ...ends, termination: null });
  if (state.kind === "unknown" && record !== null) return { issue, summary: `unknown: ${state.why}`, reconciliation: null };
  if (state.kind !== "ended")
    return { issue, summary: "unknown: no Job of this run is found, nor its records; --namespace, --data?", reconciliation: null };
  const runId = issue.run.id;
  const reported = reconcile(state, { runId, namespace: "-", jobName: "-", jobUid: "-" }, now);
  const evidence = `The Job of run ${runId} is gone; the record it left on the volume says that the agent ${howEnded(state)} at ${state.end.finishedAt}, after ${state.end.bytes} bytes of output. Read by paperclip-k8s at ${now.toISOString()}.`;
  const reconciliation = reported === null ? null : { ...reported, evidence };
  return { issue, summary: `ended: the agent ${howEnded(state)}; its Job is gone`, reconciliation };
}
