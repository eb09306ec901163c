import { type HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { isLive } from "@paperclip-k8s/paperclip/runs";
import { recordOf, recordsOf, textOf } from "@paperclip-k8s/paperclip/values";
import { aFewAtOnce } from "./a-few-at-once.ts";
import { unlessGone } from "./held-issues.ts";
import { type ListedRun, listedRuns } from "./listed-runs.ts";

/** Which issues may be held, and how much was looked at to know it. */
export interface Search {
  readonly companies: readonly string[];
  readonly openIssues: number;
  /** Companies whose audit log this key may not read. */
  readonly unaudited: number;
  readonly candidates: readonly string[];
  /** The newest runs of all companies. */
  readonly runs: readonly ListedRun[];
}

/** A Job's task, and the run it works for. */
export interface JobHint {
  readonly task: string;
  readonly run: string;
}

const PAGE = 1000;
const AUDIT_PAGE = 200;
/** Far more holds than anybody lets lie; a host that always names a next page must not keep us for ever. */
const MAX_AUDIT_PAGES = 50;
const OPEN = "todo,in_progress,in_review,blocked,backlog";
/** Each company takes one list request at a time. */
const COMPANIES_AT_ONCE = 4;

/** The host marks a hold in its list for a few seconds only; afterwards its audit log, the issue itself and the Job show it. */
export async function search(host: HostApi, company: string | null, hints: readonly JobHint[]): Promise<Search> {
  const companies = company === null ? recordsOf(await host.get("/companies")).flatMap(({ id }) => textOf(id) ?? []) : [company];
  const found = await aFewAtOnce(companies, COMPANIES_AT_ONCE, (id) => searchCompany(host, id));
  const runs = found.flatMap((each) => each.runs);
  const live = new Set(runs.filter(isLive).map(({ id }) => id));
  const tasks = hints.filter(({ run }) => !live.has(run)).map(({ task }) => task);
  return {
    companies,
    openIssues: found.reduce((sum, { open }) => sum + open, 0),
    unaudited: found.filter(({ audited }) => !audited).length,
    candidates: [...new Set([...found.flatMap(({ candidates }) => candidates), ...tasks])],
    runs,
  };
}

async function searchCompany(host: HostApi, companyId: string) {
  const issues = await openIssues(host, companyId);
  const runs = await listedRuns(host, companyId);
  const settled = await settledHolds(host, companyId);
  const marked = issues.filter(({ isMarked }) => isMarked).map(({ id }) => id);
  const others = settled ?? suspects(issues, runs);
  return { open: issues.length, runs, audited: settled !== null, candidates: [...marked, ...others] };
}

interface OpenIssue {
  readonly id: string;
  readonly status: string | null;
  readonly isMarked: boolean;
}

async function openIssues(host: HostApi, companyId: string): Promise<OpenIssue[]> {
  const found: OpenIssue[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = recordsOf(await host.get(`/companies/${companyId}/issues?status=${OPEN}&limit=${PAGE}&offset=${offset}`));
    for (const { id, status, activeRecoveryAction } of page)
      found.push({ id: String(id), status: textOf(status), isMarked: activeRecoveryAction != null });
    if (page.length < PAGE) return found;
  }
}

/** Without the audit log: every blocked issue, and every open one whose last run did not succeed. */
function suspects(issues: readonly OpenIssue[], runs: readonly ListedRun[]): string[] {
  const last = new Map<string, ListedRun>();
  for (const run of runs) if (run.issueId !== null && !last.has(run.issueId)) last.set(run.issueId, run);
  const hasFailed = (run: ListedRun | undefined) => run !== undefined && run.status !== "succeeded" && !isLive(run);
  return issues.filter(({ id, status }) => status === "blocked" || hasFailed(last.get(id))).map(({ id }) => id);
}

/** Issues with a hold that nobody has resolved since; null = this key may not read the audit log. */
async function settledHolds(host: HostApi, companyId: string): Promise<string[] | null> {
  const settled = await auditEvents(host, companyId, "issue.execution_recovery_settled");
  if (settled === null || settled.length === 0) return settled === null ? null : [];
  const resolved = await auditEvents(host, companyId, "issue.recovery_action_resolved");
  const last = new Map((resolved ?? []).toReversed().map(({ actionId, at }) => [actionId, at]));
  // The audit log may leave out which action it was: then the issue itself is asked.
  const isOpen = ({ actionId, at }: AuditEvent) => actionId === null || (last.get(actionId) ?? "") < at;
  return [...new Set(settled.filter(isOpen).map(({ issueId }) => issueId))];
}

interface AuditEvent {
  readonly issueId: string;
  readonly actionId: string | null;
  readonly at: string;
}

/** Newest first. */
async function auditEvents(host: HostApi, companyId: string, action: string): Promise<AuditEvent[] | null> {
  const found: AuditEvent[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_AUDIT_PAGES; page++) {
    const from = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const path = `/companies/${companyId}/audit/agent-actions?actorScope=all&action=${action}&limit=${AUDIT_PAGE}${from}`;
    const answer = await host.get(path).catch(page === 0 ? unlessGone : rethrow);
    if (answer === null) return null;
    const { items, nextCursor } = recordOf(answer);
    for (const { entityId, details, createdAt } of recordsOf(items)) {
      const issueId = textOf(entityId);
      if (issueId !== null) found.push({ issueId, actionId: textOf(recordOf(details).recoveryActionId), at: textOf(createdAt) ?? "" });
    }
    cursor = textOf(nextCursor);
    if (cursor === null) return found;
  }
  throw new HostError(`the audit log of company ${companyId} has more than ${MAX_AUDIT_PAGES * AUDIT_PAGE} events ${action}`, null);
}

function rethrow(error: unknown): never {
  throw error;
}
