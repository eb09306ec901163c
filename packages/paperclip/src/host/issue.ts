import { recordOf, textOf } from "./context-values.ts";
import type { ExecutionContext } from "./types.ts";

/** How often Paperclip 2026.916 continues a task by itself, over all its retries. */
const HOST_RETRIES = 2;

/** What the host's call says about the issue that a run works on, and about the host's own retries. */
export interface RunIssue {
  /** Null = the run has no issue. */
  readonly id: string | null;
  /** As people name it. */
  readonly name: string | null;
  /** The host starts nothing more for an issue until it knows that its last run's agent has stopped, and retries by itself what asks for it. */
  readonly isHeldUnproved: boolean;
  /** The agent's page with the form of its settings. */
  readonly settingsPage: "Runtime" | "Configuration";
  /** The last run of the host's own retries: where it does not start either, the host holds the issue, although nothing was done. */
  readonly isLastRetry: boolean;
}

export function issueOf({ context, onCancellationReady }: Pick<ExecutionContext, "context" | "onCancellationReady">): RunIssue {
  const { id, identifier } = recordOf(context.paperclipIssue);
  // Hosts do so since 2026.916, which also brought the callback.
  const isHeldUnproved = onCancellationReady !== undefined;
  const retry = typeof context.scheduledRetryAttempt === "number" ? context.scheduledRetryAttempt : 0;
  const issueId = textOf(context.issueId) ?? textOf(id);
  return {
    id: issueId,
    name: textOf(identifier) ?? issueId,
    isHeldUnproved,
    settingsPage: isHeldUnproved ? "Runtime" : "Configuration",
    isLastRetry: isHeldUnproved && retry >= HOST_RETRIES,
  };
}
