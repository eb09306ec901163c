import type { FoundEnd } from "@paperclip-k8s/engine";
import { cleanLine } from "@paperclip-k8s/paperclip/clean-text";
import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { isLost } from "@paperclip-k8s/paperclip/runs";
import type { Place } from "../arguments/values.ts";
import type { FoundJob } from "../cluster/jobs.ts";
import { sentence } from "../table.ts";
import { type HeldIssue, isFinished, type WaitingIssue } from "./find/held-issues.ts";
import { readLastEnd } from "./last-attempt.ts";
import { type Proof, proofOf } from "./proof.ts";
import { type Reconciliation, reconcile } from "./reconciliation.ts";

/** What may be done about an issue now, and why, for people. */
export type RecoveryDecision = { readonly summary: string } & (
  | { readonly act: "release"; readonly issue: HeldIssue; readonly proof: Proof; readonly reconciliation: Reconciliation }
  | { readonly act: "restore"; readonly issue: WaitingIssue; readonly actionId: string }
  | { readonly act: "leave"; readonly issue: HeldIssue | WaitingIssue }
);

interface DecisionOptions {
  /** Somebody named this very issue, so that also a run which failed by itself is started again. */
  readonly isNamed: boolean;
  /** An operator's own sentence on why the agent has stopped. */
  readonly statement: string | null;
}

/** Looks for the run's Job, else for the records it left on the volume, and decides whether its issue can be released. */
export async function decideOn(
  issue: HeldIssue | WaitingIssue,
  jobs: readonly FoundJob[],
  options: DecisionOptions & Place & { readonly secret: Uint8Array | null },
): Promise<RecoveryDecision> {
  if (issue.kind === "waiting") return decideWaiting(issue, options);
  const found = jobsOf(issue, jobs);
  const lastEnd = found.length === 0 ? await readLastEnd(issue, options) : null;
  return decide(issue, found, { ...options, lastEnd, now: new Date() });
}

/** Its own, else the one it was to take over: a task's Job has the same name for all its runs, so while that one is there it has no other. */
export function jobsOf({ id, run, earlier }: HeldIssue, jobs: readonly FoundJob[]): FoundJob[] {
  const own = jobs.filter(({ runIds }) => runIds.includes(run.id));
  if (own.length > 0) return own;
  const isOfTask = ({ job }: FoundJob) => job.annotations[ANNOTATION.taskId] === id;
  return jobs.filter((found) => isOfTask(found) && found.runIds.some((each) => earlier.includes(each)));
}

export interface DecisionFacts extends DecisionOptions {
  /** The end record of a run whose Job is gone. */
  readonly lastEnd: FoundEnd | null;
  readonly now: Date;
}

export function decide(issue: HeldIssue, jobs: readonly FoundJob[], facts: DecisionFacts): RecoveryDecision {
  const { lastEnd, isNamed, statement, now } = facts;
  const found = proofOf(issue, { jobs, lastEnd, statement });
  const leave = (why: string): RecoveryDecision => ({ act: "leave", issue, summary: `${found.summary}${why}` });
  if (found.proof === null) return leave(isNamed && !found.alive ? `; ${ifYouKnow(issue)}` : "");
  if (issue.actionId === null) return leave(`; the host waits for its own clean-up (${issue.cause})`);
  if (isFinished(issue)) return leave(`; ${ifReopened(issue)}`);
  if (!isNamed && !isLost(issue.run)) return leave(`; not lost by a restart: --issue ${issue.identifier} starts it again`);
  const { proof, summary } = found;
  return { act: "release", issue, summary, proof, reconciliation: reconcile(proof, issue, now) };
}

const ifYouKnow = ({ identifier }: HeldIssue): string =>
  `if you know that it has stopped: --issue ${identifier} --stopped "how you know it"`;

/** The host answers HTTP 500 to a release of an issue that is done. */
const ifReopened = ({ identifier, status }: HeldIssue): string =>
  `the issue is ${status}, nothing waits for it. To go on with it: set it to todo, then --issue ${identifier}`;

/** A cause as a reader of a list wants it; the run's page has all of it. */
const WHAT_CHARS = 300;

/** Nothing is to be proved about a run: the host waits until somebody has repaired what made it fail. */
export function decideWaiting(issue: WaitingIssue, { isNamed }: Pick<DecisionOptions, "isNamed">): RecoveryDecision {
  const { identifier, action, run } = issue;
  const what = cleanLine(run?.error ?? action.nextAction ?? action.cause, WHAT_CHARS);
  if (action.id === null) return { act: "leave", issue, summary: `held by the host (${action.cause}): ${what}` };
  if (isNamed && !isFinished(issue)) return { act: "restore", issue, actionId: action.id, summary: `waited for you: ${what}` };
  const then = `Repair that, then set the issue to todo or run recover --issue ${identifier}`;
  return { act: "leave", issue, summary: `waits for you: ${sentence(what)} ${then}` };
}
