import { setTimeout as sleep } from "node:timers/promises";
import type { HostApi } from "@paperclip-k8s/paperclip/host-api";
import { type HeldIssue, readHeld } from "./held-issues.ts";
import type { Reconciliation } from "./reconciliation.ts";

/** After a restart the host may hold an issue twice for the same run: the second shows when the first is gone. */
const MAX_ROWS = 5;
const NEXT_RUN_MS = 15_000;

export type Release =
  | { readonly kind: "released"; readonly nextRun: string | null; readonly rows: number }
  | { readonly kind: "still-held"; readonly cause: string };

/** Reports what became of the run, once for each hold that the host has of it, until the run that follows is seen. */
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
      await resolveAction(host, issue, actionId, reconciliation);
      held = await readHeld(host, issue.id);
      if (held !== null) continue;
    }
    const next = await nextRun(host, issue, timeoutMs);
    // The second row may show only after a moment.
    held = next === null ? await readHeld(host, issue.id) : null;
    if (held === null) return { kind: "released", nextRun: next, rows: done.size };
  }
}

async function resolveAction(host: HostApi, { id, run }: HeldIssue, actionId: string, reconciliation: Reconciliation): Promise<void> {
  const { actionOutcome, evidence: outcomeEvidence } = reconciliation;
  await host.post(`/issues/${id}/recovery-actions/resolve`, {
    actionId,
    outcome: "restored",
    sourceIssueStatus: "todo",
    executionReconciliation: { runId: run.id, providerStopped: true, actionOutcome, outcomeEvidence },
  });
}

/** The host starts it by itself; null = not seen within a while. */
async function nextRun(host: HostApi, { companyId, run }: HeldIssue, timeoutMs: number): Promise<string | null> {
  if (run.agentId === null) return null;
  const path = `/companies/${companyId}/heartbeat-runs?agentId=${run.agentId}&limit=20`;
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(500)) {
    const runs = (await host.get(path)) as { id: string; retryOfRunId: string | null }[];
    const next = runs.find(({ retryOfRunId }) => retryOfRunId === run.id);
    if (next !== undefined) return next.id;
  }
  return null;
}
