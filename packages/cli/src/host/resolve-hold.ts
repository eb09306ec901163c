import { setTimeout as sleep } from "node:timers/promises";
import type { Statement } from "../cluster/statement.ts";
import type { HostApi } from "./api.ts";
import { type HeldIssue, readHeld } from "./held-issues.ts";

/** After a restart the host may hold an issue twice for the same run: the second shows when the first is gone. */
const MAX_ROWS = 5;
const NEXT_RUN_MS = 15_000;

export type Resolution =
  | { readonly kind: "resolved"; readonly nextRun: string | null; readonly rows: number }
  | { readonly kind: "still-held"; readonly cause: string };

/** States what became of the run, for as many rows as the host has of it, until the run that follows is seen. */
export async function resolveHold(
  host: HostApi,
  issue: HeldIssue,
  statement: Statement,
  patienceMs: number = NEXT_RUN_MS,
): Promise<Resolution> {
  const done = new Set<string>();
  for (let held: HeldIssue | null = issue; ; ) {
    if (held !== null) {
      const { actionId, runId, cause } = held;
      const again = actionId === null || done.has(actionId) || done.size === MAX_ROWS || runId !== issue.runId;
      if (again) return { kind: "still-held", cause };
      done.add(actionId);
      await state(host, issue, actionId, statement);
      held = await readHeld(host, issue.id);
      if (held !== null) continue;
    }
    const next = await nextRun(host, issue, patienceMs);
    // The second row may show only after a moment.
    held = next === null ? await readHeld(host, issue.id) : null;
    if (held === null) return { kind: "resolved", nextRun: next, rows: done.size };
  }
}

async function state(host: HostApi, { id, runId }: HeldIssue, actionId: string, statement: Statement): Promise<void> {
  const { actionOutcome, evidence: outcomeEvidence } = statement;
  await host.post(`/issues/${id}/recovery-actions/resolve`, {
    actionId,
    outcome: "restored",
    sourceIssueStatus: "todo",
    executionReconciliation: { runId, providerStopped: true, actionOutcome, outcomeEvidence },
  });
}

/** The host starts it by itself; null = not seen within a while. */
async function nextRun(host: HostApi, { companyId, runId, run }: HeldIssue, patienceMs: number): Promise<string | null> {
  if (run.agentId === null) return null;
  const path = `/companies/${companyId}/heartbeat-runs?agentId=${run.agentId}&limit=20`;
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(500)) {
    const runs = await host.get<{ id: string; retryOfRunId: string | null }[]>(path);
    const next = runs.find(({ retryOfRunId }) => retryOfRunId === runId);
    if (next !== undefined) return next.id;
  }
  return null;
}
