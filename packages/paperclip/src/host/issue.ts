import { is824 } from "./2026-824/release.ts";
import { type Context, recordOf, textOf } from "./context-values.ts";
import type { ExecutionContext } from "./types.ts";

/** How often Paperclip 2026.916 continues a task by itself, over all its retries. */
const HOST_RETRIES = 2;

/** What the host's call says about the issue that a run works on, and about the host's own retries. */
export interface RunIssue {
  /** Null = the run has no issue. */
  readonly id: string | null;
  /** As people name it. */
  readonly name: string | null;
  /** Its headline. */
  readonly title: string | null;
  /** The host starts nothing more for an issue whose last run is not proved to have stopped (2026.916 and later). */
  readonly holdsUnprovedEnds: boolean;
  /** The agent's page with the form of its settings. */
  readonly settingsPage: "Runtime" | "Configuration";
  /** The last run of the host's own retries: after it the host retries no more, and holds an issue whose run did not start either. */
  readonly isLastRetry: boolean;
}

export function issueOf(ctx: Pick<ExecutionContext, "context" | "onCancellationReady">): RunIssue {
  const { context } = ctx;
  const { id, identifier, title } = recordOf(context.paperclipIssue);
  const is916 = !is824(ctx);
  const issueId = textOf(context.issueId) ?? textOf(id);
  return {
    id: issueId,
    name: textOf(identifier) ?? issueId,
    title: textOf(title) ?? textOf(recordOf(recordOf(context.paperclipWake).issue).title),
    holdsUnprovedEnds: is916,
    settingsPage: is916 ? "Runtime" : "Configuration",
    isLastRetry: is916 && failureRetries(context) >= HOST_RETRIES,
  };
}

/** The host's own count of its retries: neither what it waited for nor what it continued without a failure is in it. */
function failureRetries(context: Context): number {
  const scheduled = countOf(context.scheduledRetryAttempt) ?? 0;
  switch (context.retryReason) {
    case "max_turns_continuation":
      return 0;
    case "missing_issue_comment":
      // The context still has the number of the run before it.
      return 0;
    case "ai_connection_busy":
      return countOf(context.failureRetriesBeforeAiConnectionWait) ?? scheduled;
    case "workspace_busy":
      return countOf(context.failureRetriesBeforeWorkspaceWait) ?? scheduled;
    default:
      return scheduled;
  }
}

const countOf = (value: unknown): number | null => (Number.isInteger(value) && Number(value) >= 0 ? Number(value) : null);
