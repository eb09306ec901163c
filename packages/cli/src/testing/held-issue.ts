import type { HeldIssue } from "../recovery/held-issues.ts";

/** An issue that is held because a restart interrupted its run, for tests that say what differs. */
export const heldIssue = (change: Partial<HeldIssue> = {}): HeldIssue => ({
  id: "issue-1",
  identifier: "ACME-7",
  status: "blocked",
  companyId: "company-1",
  actionId: "action-1",
  cause: "legacy_execution_requires_reconciliation",
  run: {
    id: "0b5b9c1e-aaaa-bbbb-cccc-000000000000",
    status: "interrupted",
    errorCode: "server_shutdown_interrupted",
    agentId: "agent-1",
  },
  earlier: [],
  ...change,
});
