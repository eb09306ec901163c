import type { HeldIssue, WaitingIssue } from "../recovery/find/held-issues.ts";
import type { RunRecord, StoredResult } from "../recovery/find/run-record.ts";

/** The host's record of a run that a restart interrupted, for tests that say what differs. */
export const runRecord = (change: Partial<RunRecord> = {}): RunRecord => ({
  id: "0b5b9c1e-aaaa-bbbb-cccc-000000000000",
  status: "interrupted",
  errorCode: "server_shutdown_interrupted",
  agentId: "agent-1",
  retryOfRunId: null,
  superseded: false,
  exitCode: null,
  finishedAt: "2026-01-01T01:00:00Z",
  error: null,
  issueId: "issue-1",
  result: null,
  ...change,
});

/** A result of ours that says how the agent exited. */
export const storedResult = (change: Partial<StoredResult> = {}): StoredResult => ({
  outcome: "exited",
  proof: "end-record",
  cause: null,
  job: "agents/agent-example-otto-1a2b3c",
  notStarted: false,
  acknowledged: false,
  forged: false,
  ...change,
});

const issue = {
  id: "issue-1",
  identifier: "ACME-7",
  status: "blocked",
  companyId: "company-1",
  agentId: "agent-1",
  projectId: null,
} as const;

/** An issue that is held because a restart interrupted its run. */
export const heldIssue = (change: Partial<HeldIssue> = {}): HeldIssue => ({
  ...issue,
  kind: "held",
  actionId: "action-1",
  cause: "legacy_execution_requires_reconciliation",
  run: runRecord(),
  earlier: [],
  alsoWaiting: null,
  ...change,
});

/** An issue whose agent's settings have to be repaired. */
export const waitingIssue = (change: Partial<WaitingIssue> = {}): WaitingIssue => ({
  ...issue,
  kind: "waiting",
  action: { id: "action-2", cause: "configuration_incomplete", nextAction: "Bind the missing secret(s)" },
  run: runRecord({ status: "failed", errorCode: "configuration_incomplete", error: "The key was refused", result: storedResult() }),
  ...change,
});
