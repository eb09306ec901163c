import type { EndRecord } from "@paperclip-k8s/engine";
import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { howEnded, type Statement, statementOf } from "../cluster/statement.ts";
import type { Found } from "../cluster/survey.ts";
import { verdict } from "../cluster/verdict.ts";
import { type HeldIssue, isFinished, lostByRestart } from "../host/held-issues.ts";
import { readKeptEnd } from "./kept-end.ts";

export interface Judged {
  readonly issue: HeldIssue;
  /** What became of the Job, for people. */
  readonly summary: string;
  /** What the host may be told now; null = nothing. */
  readonly statement: Statement | null;
}

export interface JudgeOptions {
  readonly data: string | null;
  readonly instance: string;
  /** Issues that somebody named: runs that failed by themselves are released too. */
  readonly issues: readonly string[];
}

/** Looks for the run's Job, else for the records it left on the volume, and says what can be stated of it. */
export async function judgeHold(issue: HeldIssue, jobs: readonly Found[], options: JudgeOptions): Promise<Judged> {
  const found = jobsOf(issue, jobs);
  const kept = found.length === 0 ? await readKeptEnd(issue, options) : null;
  return judge(issue, found, kept, options.issues.length > 0, new Date());
}

/** Its own, else the one it was to take over: a task's Job has the same name for all its runs, so while that one is there it has no other. */
export function jobsOf({ id, runId, earlier }: HeldIssue, jobs: readonly Found[]): Found[] {
  const own = jobs.filter(({ runIds }) => runIds.includes(runId));
  if (own.length > 0) return own;
  const isOfTask = ({ job }: Found) => job.annotations[ANNOTATION.taskId] === id;
  return jobs.filter((found) => isOfTask(found) && found.runIds.some((run) => earlier.includes(run)));
}

/** The same without I/O. */
export function judge(issue: HeldIssue, found: readonly Found[], kept: EndRecord | null, named: boolean, now: Date): Judged {
  const alive = found.find(({ verdict: { state } }) => state === "alive") ?? found.find(({ verdict: { state } }) => state === "unknown");
  const one = alive ?? found[0];
  const judged = one === undefined ? withoutJob(issue, kept, now) : withJob(issue, one, now);
  if (judged.statement === null) return judged;
  if (issue.actionId === null)
    return { ...judged, statement: null, summary: `${judged.summary}; the host waits for its own clean-up (${issue.cause})` };
  if (isFinished(issue))
    return { ...judged, statement: null, summary: `${judged.summary}; the issue is ${issue.status}: releasing would reopen it` };
  if (!named && !lostByRestart(issue))
    return { ...judged, statement: null, summary: `${judged.summary}; not lost by a restart: --issue ${issue.identifier} starts it again` };
  return judged;
}

function withJob(issue: HeldIssue, { namespace, job, ours, runIds, verdict: state }: Found, now: Date): Judged {
  const place = `${namespace}/${job.name}`;
  if (!ours) return { issue, summary: `${place} was not started by this version; look at it by hand`, statement: null };
  const summary = state.state === "over" ? `over: the agent ${howEnded(state)}; ${place}` : `${state.state}: ${state.why}; ${place}`;
  const run = runIds.includes(issue.runId) ? issue.runId : `${runIds[0]}, which run ${issue.runId} was to go on with,`;
  const subject = { runId: run, namespace, jobName: job.name, jobUid: job.uid };
  return { issue, summary, statement: statementOf(state, subject, now) };
}

function withoutJob(issue: HeldIssue, kept: EndRecord | null, now: Date): Judged {
  const state = verdict({ job: null, pods: [], container: "", endRecord: kept, termination: null });
  if (state.state !== "over")
    return { issue, summary: `unknown: no Job of this run is found, nor its records; --namespace, --data?`, statement: null };
  const told = statementOf(state, { runId: issue.runId, namespace: "-", jobName: "-", jobUid: "-" }, now);
  const evidence = `The Job of run ${issue.runId} is gone; the record it left on the volume says that the agent ${howEnded(state)} at ${state.end.finishedAt}, after ${state.end.bytes} bytes of output. Read by paperclip-k8s at ${now.toISOString()}.`;
  const statement = told === null ? null : { ...told, evidence };
  return { issue, summary: `over: the agent ${howEnded(state)}; its Job is gone`, statement };
}
