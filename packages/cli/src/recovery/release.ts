import { setTimeout as sleep } from "node:timers/promises";
import type { HostApi } from "@paperclip-k8s/paperclip/host-api";
import { type FreeIssue, type HeldIssue, readIssue, type WaitingIssue } from "./find/held-issues.ts";
import { type ListedRun, listedRuns } from "./find/listed-runs.ts";
import type { Reconciliation } from "./reconciliation.ts";

/** After a restart the host may hold an issue twice for the same run: the second shows when the first is gone. */
const MAX_ROWS = 5;
/** The host starts the next run in a sweep every 15 s. */
const NEXT_RUN_MS = 30_000;

type Release =
  | { readonly kind: "released"; readonly nextRun: string | null; readonly rows: number }
  | { readonly kind: "still-held"; readonly cause: string };

/** Reports what became of the run, once for each hold that the host has of it, until the run that follows is seen. The host answers 200 also where it changes nothing, so only the issue itself shows that it is free. */
export async function release(
  host: HostApi,
  issue: HeldIssue,
  reconciliation: Reconciliation,
  timeoutMs: number = NEXT_RUN_MS,
): Promise<Release> {
  const done = new Set<string>();
  for (let held: HeldIssue | null = issue; ; ) {
    if (held !== null) {
      const { actionId, run, cause } = held;
      const again = actionId === null || done.has(actionId) || done.size === MAX_ROWS || run.id !== issue.run.id;
      if (again) return { kind: "still-held", cause };
      done.add(actionId);
      await resolveHold(host, held, actionId, reconciliation);
      held = heldStill(await readIssue(host, issue.id));
      if (held !== null) continue;
    }
    const next = await nextRun(
      host,
      { ...issue, agentId: issue.run.agentId },
      timeoutMs,
      ({ retryOfRunId }) => retryOfRunId === issue.run.id,
    );
    // The second row may show only after a moment.
    held = next === null ? heldStill(await readIssue(host, issue.id)) : null;
    if (held === null) return { kind: "released", nextRun: next, rows: done.size };
  }
}

/** Hands an issue back to its agent after somebody has repaired what it waited for; null = no run was seen to follow. */
export async function restore(host: HostApi, issue: WaitingIssue, actionId: string, timeoutMs = NEXT_RUN_MS): Promise<string | null> {
  const known = issue.agentId === null ? [] : await listedRuns(host, issue.companyId, { agentId: issue.agentId, most: 20 });
  await resolveAction(host, issue.id, { actionId });
  const isNew = ({ id, issueId }: ListedRun) => issueId === issue.id && !known.some((each) => each.id === id);
  return nextRun(host, issue, timeoutMs, isNew);
}

const heldStill = (issue: HeldIssue | WaitingIssue | FreeIssue): HeldIssue | null => (issue.kind === "held" ? issue : null);

async function resolveHold(host: HostApi, held: HeldIssue, actionId: string, stated: Reconciliation): Promise<void> {
  const { id, run, cause, alsoWaiting } = held;
  const { actionOutcome, evidence: outcomeEvidence } = stated;
  const executionReconciliation = { runId: run.id, providerStopped: true, actionOutcome, outcomeEvidence };
  // The host refuses to release a hold while another action of the issue is open.
  if (alsoWaiting?.id != null && alsoWaiting.cause !== cause) await resolveAction(host, id, { actionId: alsoWaiting.id });
  await resolveAction(host, id, { actionId, executionReconciliation });
}

const resolveAction = (host: HostApi, issueId: string, action: object): Promise<unknown> =>
  host.post(`/issues/${issueId}/recovery-actions/resolve`, { outcome: "restored", sourceIssueStatus: "todo", ...action });

/** The host starts it by itself; null = not seen within a while. */
async function nextRun(
  host: HostApi,
  { companyId, agentId }: Pick<HeldIssue, "companyId" | "agentId">,
  timeoutMs: number,
  isNext: (run: ListedRun) => boolean,
): Promise<string | null> {
  if (agentId === null) return null;
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(500)) {
    const next = (await listedRuns(host, companyId, { agentId, most: 20 })).find(isNext);
    if (next !== undefined) return next.id;
  }
  return null;
}
