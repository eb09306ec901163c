import { type HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { readRun, retriedRuns } from "@paperclip-k8s/paperclip/runs";
import { recordOf, textOf } from "@paperclip-k8s/paperclip/values";
import { type RunRecord, readRecord, unlessGone } from "./run-record.ts";

interface IssueRef {
  readonly id: string;
  readonly identifier: string;
  readonly status: string;
  readonly companyId: string;
  readonly agentId: string | null;
  readonly projectId: string | null;
}

/** An issue on which the host starts nothing until it is known what became of a run. */
export interface HeldIssue extends IssueRef {
  readonly kind: "held";
  /** Null = the host waits for something else, and nothing can be reported to it. */
  readonly actionId: string | null;
  readonly cause: string;
  readonly run: RunRecord;
  /** Runs of which this one is a retry, nearest first. If it was stopped before it took over their Job, it has none of its own. */
  readonly earlier: readonly string[];
  /** What the host wants besides: as long as it is there, the hold cannot be resolved. */
  readonly alsoWaiting: RecoveryAction | null;
}

/** An issue that waits for somebody to repair something; nobody has to prove anything about a run. */
export interface WaitingIssue extends IssueRef {
  readonly kind: "waiting";
  readonly action: RecoveryAction;
  /** The run after which it waits, where the host names it. */
  readonly run: RunRecord | null;
}

/** Nothing of the host's keeps its agent from working on it. */
export interface FreeIssue extends IssueRef {
  readonly kind: "free";
}

interface RecoveryAction {
  /** Null = it cannot be resolved by anybody. */
  readonly id: string | null;
  readonly cause: string;
  /** What the host asks for. */
  readonly nextAction: string | null;
}

/** What the host itself says of an issue. Its lists do not show a hold that is older than a few seconds, so each issue is asked for alone. */
export async function readIssue(host: HostApi, id: string): Promise<HeldIssue | WaitingIssue | FreeIssue> {
  const issue = recordOf(await host.get(`/issues/${encodeURIComponent(id)}`));
  const ref = refOf(id, issue);
  const action = actionOf(issue.activeRecoveryAction);
  const blocker = recordOf(issue.executionBlocker);
  const cause = textOf(blocker.cause);
  if (cause === null) {
    if (action === null) return { kind: "free", ...ref };
    const runId = runOfAction(issue.activeRecoveryAction);
    return { kind: "waiting", ...ref, action, run: runId === null ? null : await readRecord(host, runId) };
  }
  const actionId = textOf(blocker.recoveryActionId);
  const runId = textOf(blocker.runId);
  const run = runId === null ? null : await readRecord(host, runId);
  if (run === null) return { kind: "waiting", ...ref, action: { id: null, cause, nextAction: textOf(blocker.nextAction) }, run };
  const earlier: string[] = [];
  for await (const each of retriedRuns(run.retryOfRunId, (other) => readRun(host, other).catch(unlessGone))) earlier.push(each);
  return { kind: "held", ...ref, actionId, cause, run, earlier, alsoWaiting: action?.id === actionId ? null : action };
}

function refOf(id: string, issue: Readonly<Record<string, unknown>>): IssueRef {
  const own = textOf(issue.id);
  const companyId = textOf(issue.companyId);
  if (own === null || companyId === null) throw new HostError(`GET /api/issues/${id}: an answer without an id`, null);
  const [identifier, status] = [textOf(issue.identifier) ?? own, textOf(issue.status) ?? "unknown"];
  return { id: own, identifier, status, companyId, agentId: textOf(issue.assigneeAgentId), projectId: textOf(issue.projectId) };
}

function actionOf(value: unknown): RecoveryAction | null {
  const { id, cause, kind, nextAction } = recordOf(value);
  const known = textOf(id);
  return known === null ? null : { id: known, cause: textOf(cause) ?? textOf(kind) ?? "unknown", nextAction: textOf(nextAction) };
}

function runOfAction(value: unknown): string | null {
  const evidence = recordOf(recordOf(value).evidence);
  return textOf(evidence.latestRunId) ?? textOf(evidence.runId) ?? textOf(evidence.sourceRunId);
}

/** The agent finished its issue although nobody followed it: nothing waits for the hold, and releasing it would open the issue again. */
export const isFinished = ({ status }: Pick<IssueRef, "status">): boolean => FINISHED.has(status);

const FINISHED: ReadonlySet<string> = new Set(["done", "in_review", "cancelled"]);
