import { expect, test } from "vitest";
import { hostContext } from "../testing/host-context.ts";
import { issueOf } from "./issue.ts";

const isLast = (context: Record<string, unknown>) => issueOf(hostContext({ context }).ctx).isLastRetry;

test("the host's second retry after a failure is its last one", () => {
  expect(isLast({})).toBe(false);
  expect(isLast({ scheduledRetryAttempt: 1, retryReason: "transient_failure" })).toBe(false);
  expect(isLast({ scheduledRetryAttempt: 2, retryReason: "transient_failure" })).toBe(true);
  expect(isLast({ scheduledRetryAttempt: 2 })).toBe(true);
  expect(isLast({ scheduledRetryAttempt: "2" })).toBe(false);
});

test("continuations and waits of the host's own are no failures", () => {
  expect(isLast({ scheduledRetryAttempt: 4, retryReason: "max_turns_continuation" })).toBe(false);
  expect(isLast({ scheduledRetryAttempt: 2, retryReason: "missing_issue_comment" })).toBe(false);
  for (const [retryReason, key] of [
    ["ai_connection_busy", "failureRetriesBeforeAiConnectionWait"],
    ["workspace_busy", "failureRetriesBeforeWorkspaceWait"],
  ] as const) {
    expect(isLast({ scheduledRetryAttempt: 12, retryReason, [key]: 1 })).toBe(false);
    expect(isLast({ scheduledRetryAttempt: 12, retryReason, [key]: 2 })).toBe(true);
    // As the host does, where nobody counted.
    for (const count of [undefined, -1, 0.5, "0"]) expect(isLast({ scheduledRetryAttempt: 4, retryReason, [key]: count })).toBe(true);
    expect(isLast({ scheduledRetryAttempt: 2, retryReason: "transient_failure", [key]: 0 })).toBe(true);
  }
});

test("the issue's title, from wherever the host names it", () => {
  const titleOf = (context: Record<string, unknown>) => issueOf(hostContext({ context }).ctx).title;
  expect(titleOf({ paperclipIssue: { title: "Fix it" }, paperclipWake: { issue: { title: "Other" } } })).toBe("Fix it");
  expect(titleOf({ paperclipWake: { issue: { title: "Fix it" } } })).toBe("Fix it");
  expect([titleOf({}), titleOf({ paperclipIssue: { title: 7 }, paperclipWake: "text" })]).toEqual([null, null]);
});
