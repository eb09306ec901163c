import { type HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { isLive } from "@paperclip-k8s/paperclip/runs";
import { recordOf, recordsOf, textOf } from "@paperclip-k8s/paperclip/values";
import { aFewAtOnce } from "./a-few-at-once.ts";
import { type ListedRun, listedRuns, MOST_LISTED } from "./listed-runs.ts";
import { unlessGone } from "./run-record.ts";

/** Which issues may be held, and how much was looked at to know it. */
export interface SearchResult {
  readonly companies: readonly string[];
  readonly openIssues: number;
  /** Companies whose audit log this key may not read. */
  readonly unaudited: number;
  /** Companies whose audit log is longer than what was read of it. */
  readonly partlyAudited: number;
  readonly candidates: readonly string[];
  /** The newest runs of all companies. */
  readonly runs: readonly ListedRun[];
}

/** A Job's task, and the run it works for. */
interface JobHint {
  readonly task: string;
  readonly run: string;
}

const PAGE = 1000;
/** More than any company has. */
const MOST_ISSUES = 1_000_000;
const AUDIT_PAGE = 200;
/** Older holds are found by their issues; a host that always names a next page must not keep us for ever. */
const MAX_AUDIT_PAGES = 50;
const OPEN = "todo,in_progress,in_review,blocked,backlog";
/** Each company takes one list request at a time. */
const COMPANIES_AT_ONCE = 4;

/** The host marks a hold in its list for a few seconds only; afterwards its audit log, the issue itself and the Job show it. `knownFree`: issues without a listed run that were asked for in an earlier round. */
export async function searchHost(
  host: HostApi,
  company: string | null,
  hints: readonly JobHint[],
  knownFree: Set<string> = new Set(),
): Promise<SearchResult> {
  const companies = company === null ? recordsOf(await host.get("/companies")).flatMap(({ id }) => textOf(id) ?? []) : [company];
  const found = await aFewAtOnce(companies, COMPANIES_AT_ONCE, (id) => searchCompany(host, id, knownFree));
  const runs = found.flatMap((each) => each.runs);
  const live = new Set(runs.filter(isLive).map(({ id }) => id));
  const tasks = hints.filter(({ run }) => !live.has(run)).map(({ task }) => task);
  return {
    companies,
    openIssues: found.reduce((sum, { open }) => sum + open, 0),
    unaudited: found.filter(({ audited }) => audited === "not").length,
    partlyAudited: found.filter(({ audited }) => audited === "partly").length,
    candidates: [...new Set([...found.flatMap(({ candidates }) => candidates), ...tasks])],
    runs,
  };
}

async function searchCompany(host: HostApi, companyId: string, knownFree: Set<string>) {
  const issues = await openIssues(host, companyId);
  const runs = await listedRuns(host, companyId);
  const { holds, audited } = await unresolvedHolds(host, companyId);
  const marked = issues.filter(({ isMarked }) => isMarked).map(({ id }) => id);
  return { open: issues.length, runs, audited, candidates: [...marked, ...holds, ...suspects(issues, runs, knownFree)] };
}

interface OpenIssue {
  readonly id: string;
  readonly status: string | null;
  readonly isMarked: boolean;
}

async function openIssues(host: HostApi, companyId: string): Promise<OpenIssue[]> {
  const found: OpenIssue[] = [];
  // A host that ignores the offset would give the same page for ever.
  for (let offset = 0; offset < MOST_ISSUES; offset += PAGE) {
    const page = recordsOf(await host.get(`/companies/${companyId}/issues?status=${OPEN}&limit=${PAGE}&offset=${offset}`));
    for (const { id, status, activeRecoveryAction } of page)
      found.push({ id: String(id), status: textOf(status), isMarked: activeRecoveryAction != null });
    if (page.length < PAGE) return found;
  }
  throw new HostError(`GET /api/companies/${companyId}/issues: more than ${MOST_ISSUES} open issues`, null);
}

/**
 * Every blocked issue, and every open one whose last run did not succeed: of an issue that waits for a run's environment the audit log says
 * nothing. Where the list of runs is full, the last run of an issue may be older than all of them.
 */
function suspects(issues: readonly OpenIssue[], runs: readonly ListedRun[], knownFree: Set<string>): string[] {
  const last = new Map<string, ListedRun>();
  for (const run of runs) if (run.issueId !== null && !last.has(run.issueId)) last.set(run.issueId, run);
  for (const id of last.keys()) knownFree.delete(id);
  const isFull = runs.length >= MOST_LISTED;
  const maySuspect = ({ id, status }: OpenIssue): boolean => {
    const run = last.get(id);
    if (status === "blocked") return true;
    return run === undefined ? isFull && !knownFree.has(id) : run.status !== "succeeded" && !isLive(run);
  };
  return issues.filter(maySuspect).map(({ id }) => id);
}

interface Holds {
  readonly holds: readonly string[];
  readonly audited: "wholly" | "partly" | "not";
}

/** Issues with a hold that nobody has resolved since, as far as this key may read the audit log. */
async function unresolvedHolds(host: HostApi, companyId: string): Promise<Holds> {
  const settled = await auditEvents(host, companyId, "issue.execution_recovery_settled");
  if (settled === null) return { holds: [], audited: "not" };
  const audited = settled.isWhole ? "wholly" : "partly";
  if (settled.events.length === 0) return { holds: [], audited };
  const resolved = await auditEvents(host, companyId, "issue.recovery_action_resolved");
  const last = new Map((resolved?.events ?? []).toReversed().map(({ actionId, at }) => [actionId, at]));
  // The audit log may leave out which action it was: then the issue itself is asked.
  const isOpen = ({ actionId, at }: AuditEvent) => actionId === null || (last.get(actionId) ?? "") < at;
  return { holds: settled.events.filter(isOpen).map(({ issueId }) => issueId), audited };
}

interface AuditEvent {
  readonly issueId: string;
  readonly actionId: string | null;
  readonly at: string;
}

interface AuditEvents {
  /** Newest first. */
  readonly events: readonly AuditEvent[];
  readonly isWhole: boolean;
}

/** Null = this key may not read them. */
async function auditEvents(host: HostApi, companyId: string, action: string): Promise<AuditEvents | null> {
  const events: AuditEvent[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_AUDIT_PAGES; page++) {
    const from = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const path = `/companies/${companyId}/audit/agent-actions?actorScope=all&action=${action}&limit=${AUDIT_PAGE}${from}`;
    const answer = await host.get(path).catch(page === 0 ? unlessGone : rethrow);
    if (answer === null) return null;
    const { items, nextCursor } = recordOf(answer);
    for (const { entityId, details, createdAt } of recordsOf(items)) {
      const issueId = textOf(entityId);
      if (issueId !== null) events.push({ issueId, actionId: textOf(recordOf(details).recoveryActionId), at: textOf(createdAt) ?? "" });
    }
    cursor = textOf(nextCursor);
    if (cursor === null) return { events, isWhole: true };
  }
  return { events, isWhole: false };
}

function rethrow(error: unknown): never {
  throw error;
}
