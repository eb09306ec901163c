import { type HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { type HostRun, isLive, readRun, retriedRuns } from "@paperclip-k8s/paperclip/runs";

/** An issue on which the host starts nothing until it is known what became of a run. */
export interface HeldIssue {
  readonly id: string;
  readonly identifier: string;
  readonly status: string;
  readonly companyId: string;
  /** Null = the host waits for something else, and nothing can be reported to it. */
  readonly actionId: string | null;
  readonly cause: string;
  readonly run: Pick<HostRun, "id" | "status" | "errorCode" | "agentId">;
  /** Runs of which this one is a retry, nearest first. If it was stopped before it took over their Job, it has none of its own. */
  readonly earlier: readonly string[];
}

interface Issue extends Pick<HeldIssue, "id" | "status" | "companyId"> {
  readonly identifier: string | null;
  readonly activeRecoveryAction?: unknown;
  readonly executionBlocker?: { readonly recoveryActionId: string | null; readonly runId: string | null; readonly cause: string } | null;
}

const PAGE = 500;

/** A Job's task, and the run it works for. */
export interface JobHint {
  readonly task: string;
  readonly run: string;
}

/** Held issues of all companies, or of one. The host's list does not mark all of them, so the tasks of Jobs without a live run are looked at too. */
export async function heldIssues(host: HostApi, company: string | null, hints: readonly JobHint[]): Promise<HeldIssue[]> {
  const companies = company === null ? ((await host.get("/companies")) as { id: string }[]).map(({ id }) => id) : [company];
  const marked = (await Promise.all(companies.map((id) => markedIssues(host, id)))).flat();
  const live = new Set(hints.length === 0 ? [] : (await Promise.all(companies.map((id) => liveRuns(host, id)))).flat());
  const ids = [...new Set([...marked, ...hints.filter(({ run }) => !live.has(run)).map(({ task }) => task)])];
  const held: HeldIssue[] = [];
  for (const id of ids) {
    const issue = await readHeld(host, id).catch(unlessGone);
    if (issue !== null && companies.includes(issue.companyId) && !isFinished(issue)) held.push(issue);
  }
  return held.sort((a, b) => a.identifier.localeCompare(b.identifier, "en", { numeric: true }));
}

async function liveRuns(host: HostApi, companyId: string): Promise<string[]> {
  const runs = (await host.get(`/companies/${companyId}/heartbeat-runs?limit=1000&summary=true`)) as { id: string; status: string }[];
  return runs.filter(isLive).map(({ id }) => id);
}

async function markedIssues(host: HostApi, companyId: string): Promise<string[]> {
  const found: string[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = (await host.get(`/companies/${companyId}/issues?limit=${PAGE}&offset=${offset}`)) as Issue[];
    found.push(...page.filter(({ activeRecoveryAction }) => activeRecoveryAction).map(({ id }) => id));
    if (page.length < PAGE) return found;
  }
}

/** Null = nothing holds it. */
export async function readHeld(host: HostApi, id: string): Promise<HeldIssue | null> {
  const issue = (await host.get(`/issues/${encodeURIComponent(id)}`)) as Issue;
  const blocker = issue.executionBlocker;
  if (!blocker || blocker.runId === null) return null;
  const run = await readRun(host, blocker.runId);
  if (run === null)
    throw new HostError(`issue ${issue.identifier ?? issue.id} is held for run ${blocker.runId}, which the host does not know`, 404);
  const earlier: string[] = [];
  for await (const each of retriedRuns(run.retryOfRunId, (other) => readRun(host, other).catch(unlessGone))) earlier.push(each);
  const { status, companyId } = issue;
  const { cause, recoveryActionId: actionId } = blocker;
  return { id: issue.id, identifier: issue.identifier ?? issue.id, status, companyId, actionId, cause, run, earlier };
}

/** The agent finished its issue although nobody followed it: nothing waits for the hold, and releasing it would open the issue again. */
export const isFinished = ({ status }: HeldIssue): boolean => FINISHED.has(status);

const FINISHED: ReadonlySet<string> = new Set(["done", "in_review", "cancelled"]);

/** A task that a Job names may belong to another host, or be deleted. */
function unlessGone(error: unknown): null {
  if (error instanceof HostError && (error.status === 404 || error.status === 403)) return null;
  throw error;
}
