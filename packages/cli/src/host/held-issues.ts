import type { HostApi } from "./api.ts";

/** An issue on which the host starts nothing until somebody says what became of a run. */
export interface HeldIssue {
  readonly id: string;
  readonly identifier: string;
  readonly title: string;
  readonly status: string;
  readonly companyId: string;
  readonly runId: string;
  /** Null: the host waits for something else, and there is nothing to state. */
  readonly actionId: string | null;
  readonly cause: string;
  readonly run: HeldRun;
  /** Runs that this one was to go on with, nearest first: stopped before it took their Job over, it has none of its own. */
  readonly earlier: readonly string[];
}

export interface HeldRun {
  readonly status: string;
  readonly errorCode: string | null;
  readonly agentId: string | null;
}

interface Issue {
  readonly id: string;
  readonly identifier: string | null;
  readonly title: string;
  readonly status: string;
  readonly companyId: string;
  readonly activeRecoveryAction?: unknown;
  readonly executionBlocker?: { readonly recoveryActionId: string | null; readonly runId: string | null; readonly cause: string } | null;
}

const PAGE = 500;

/** A Job's task, and the run it works for. */
export interface Hint {
  readonly task: string;
  readonly run: string;
}

/** Held issues of all companies, or of one. The host's list does not mark all of them: tasks of Jobs whose run is not under way are looked at too. */
export async function heldIssues(host: HostApi, company: string | null, hints: readonly Hint[]): Promise<HeldIssue[]> {
  const companies = company === null ? (await host.get<{ id: string }[]>("/companies")).map(({ id }) => id) : [company];
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
  const runs = await host.get<{ id: string; status: string }[]>(`/companies/${companyId}/heartbeat-runs?limit=1000&summary=true`);
  return runs.filter(({ status }) => LIVE.has(status)).map(({ id }) => id);
}

const LIVE: ReadonlySet<string> = new Set(["queued", "running", "scheduled_retry"]);

async function markedIssues(host: HostApi, companyId: string): Promise<string[]> {
  const found: string[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await host.get<Issue[]>(`/companies/${companyId}/issues?limit=${PAGE}&offset=${offset}`);
    found.push(...page.filter(({ activeRecoveryAction }) => activeRecoveryAction).map(({ id }) => id));
    if (page.length < PAGE) return found;
  }
}

/** Null = nothing holds it. */
export async function readHeld(host: HostApi, id: string): Promise<HeldIssue | null> {
  const issue = await host.get<Issue>(`/issues/${encodeURIComponent(id)}`);
  const blocker = issue.executionBlocker;
  if (!blocker || blocker.runId === null) return null;
  const run = await host.get<HeldRun & Continuing>(`/heartbeat-runs/${blocker.runId}`);
  return {
    id: issue.id,
    identifier: issue.identifier ?? issue.id,
    title: issue.title,
    status: issue.status,
    companyId: issue.companyId,
    runId: blocker.runId,
    actionId: blocker.recoveryActionId,
    cause: blocker.cause,
    run: { status: run.status, errorCode: run.errorCode, agentId: run.agentId },
    earlier: await earlierRuns(host, run.retryOfRunId),
  };
}

interface Continuing {
  readonly retryOfRunId: string | null;
}

const MAX_HOPS = 10;

async function earlierRuns(host: HostApi, first: string | null): Promise<string[]> {
  const found: string[] = [];
  for (let id = first; id && found.length < MAX_HOPS && !found.includes(id); ) {
    found.push(id);
    id = (await host.get<Continuing>(`/heartbeat-runs/${id}`).catch(unlessGone))?.retryOfRunId ?? null;
  }
  return found;
}

/** The agent finished its issue although nobody followed it: nothing waits for the hold, and releasing it would open the issue again. */
export const isFinished = ({ status }: HeldIssue): boolean => FINISHED.has(status);

const FINISHED: ReadonlySet<string> = new Set(["done", "in_review", "cancelled"]);

/** A task that a Job names may belong to another host, or be deleted. */
function unlessGone(error: unknown): null {
  if (error instanceof Error && "status" in error && (error.status === 404 || error.status === 403)) return null;
  throw error;
}

/** The server stopped under this run; any other end it has seen itself, and starting it again is somebody's decision. */
export function lostByRestart({ run }: HeldIssue): boolean {
  if (run.status === "interrupted") return true;
  return run.status === "failed" && run.errorCode !== null && LOST_CODES.has(run.errorCode);
}

const LOST_CODES: ReadonlySet<string> = new Set(["process_lost", "server_shutdown_interrupted"]);
