import { recordOf, recordsOf, textOf, textsOf } from "../../host/context-values.ts";
import type { ExecutionContext } from "../../host/types.ts";
import { type Workspace, workspaceHints } from "./workspace.ts";

/** What of the host's call becomes environment. */
export type EnvContext = Pick<ExecutionContext, "runId" | "agent" | "context" | "authToken">;

/** What the host knows about the run, under the names its agents read. Blanks are left out. */
export async function hostFacts(
  ctx: EnvContext,
  apiUrl: string | null,
  isMounted: (path: string) => boolean,
  workspace: Workspace,
): Promise<Record<string, string>> {
  const { context } = ctx;
  const host = await import("../prompt/host-rendering.ts");
  const facts: Record<string, string | null> = {
    PAPERCLIP_AGENT_ID: textOf(ctx.agent.id),
    PAPERCLIP_COMPANY_ID: textOf(ctx.agent.companyId),
    PAPERCLIP_RUN_ID: textOf(ctx.runId),
    PAPERCLIP_API_URL: apiUrl,
    PAPERCLIP_API_KEY: textOf(ctx.authToken),
    PAPERCLIP_TASK_ID: taskOf(ctx),
    PAPERCLIP_ISSUE_WORK_MODE: host.readPaperclipIssueWorkModeFromContext(context),
    PAPERCLIP_WAKE_REASON: textOf(context.wakeReason),
    PAPERCLIP_WAKE_COMMENT_ID: textOf(context.wakeCommentId) ?? textOf(context.commentId),
    PAPERCLIP_WAKE_PAYLOAD_JSON: payloadJson(context.paperclipWake, host),
    PAPERCLIP_APPROVAL_ID: textOf(context.approvalId),
    PAPERCLIP_APPROVAL_STATUS: textOf(context.approvalStatus),
    PAPERCLIP_LINKED_ISSUE_IDS: textOf(textsOf(context.issueIds).join(",")),
    PAPERCLIP_WORKSPACE_CWD: workspace.cwd,
    PAPERCLIP_WORKSPACE_SOURCE: workspace.source,
    PAPERCLIP_WORKSPACE_STRATEGY: workspace.strategy,
    PAPERCLIP_WORKSPACE_ID: workspace.id,
    PAPERCLIP_WORKSPACE_REPO_URL: workspace.repoUrl,
    PAPERCLIP_WORKSPACE_REPO_REF: workspace.repoRef,
    PAPERCLIP_WORKSPACE_BRANCH: workspace.branch,
    PAPERCLIP_WORKSPACE_WORKTREE_PATH: workspace.worktreePath,
    PAPERCLIP_WORKSPACES_JSON: listJson(workspaceHints(context, isMounted)),
    PAPERCLIP_RUNTIME_SERVICE_INTENTS_JSON: listJson(recordsOf(context.paperclipRuntimeServiceIntents)),
    PAPERCLIP_RUNTIME_SERVICES_JSON: listJson(recordsOf(context.paperclipRuntimeServices)),
    PAPERCLIP_RUNTIME_PRIMARY_URL: textOf(context.paperclipRuntimePrimaryUrl),
    AGENT_HOME: workspace.agentHome,
  };
  return Object.fromEntries(Object.entries(facts).filter((entry): entry is [string, string] => entry[1] !== null));
}

/** Linux refuses to start a program with a longer `NAME=value`. */
const MAX_VARIABLE_BYTES = 128 * 1024 - 1;

export function isTooLong(name: string, value: string): boolean {
  return name.length + 1 + Buffer.byteLength(value) > MAX_VARIABLE_BYTES;
}

/** The payload as the host writes it; where that is too long for a variable, without what the prompt contains anyway. */
function payloadJson(wake: unknown, host: typeof import("../prompt/host-rendering.ts")): string | null {
  const full = host.stringifyPaperclipWakePayload(wake);
  if (full === null || !isTooLong("PAPERCLIP_WAKE_PAYLOAD_JSON", full)) return full;
  return host.stringifyPaperclipWakePayload({ ...recordOf(wake), executionContinuation: null }, { omitIssueDescription: true });
}

/** Names (behind `PAPERCLIP_`) whose values are ids, paths or words of the host; all others may hold people's text or tokens. */
const IDENTIFIERS = new Set([
  ...["AGENT_ID", "COMPANY_ID", "RUN_ID", "API_URL", "TASK_ID", "ISSUE_WORK_MODE", "WAKE_REASON", "WAKE_COMMENT_ID", "APPROVAL_ID"],
  ...["APPROVAL_STATUS", "LINKED_ISSUE_IDS", "WORKSPACE_CWD", "WORKSPACE_SOURCE", "WORKSPACE_STRATEGY", "WORKSPACE_ID"],
]);

/** Whether a value may be in the Job spec. Its form counts too: a reason may be a sentence, a URL may contain a password or a query. */
export function mayBePlain(name: string, value: string): boolean {
  return (
    (name === "AGENT_HOME" || IDENTIFIERS.has(name.replace(/^PAPERCLIP_/, ""))) && value.length <= 4096 && /^[\w./:,[\]-]+$/.test(value)
  );
}

/** The task is the host's task id, else its issue's. */
export function taskOf(ctx: Pick<ExecutionContext, "context">): string | null {
  return textOf(ctx.context.taskId) ?? textOf(ctx.context.issueId);
}

function listJson(items: readonly unknown[]): string | null {
  return items.length === 0 ? null : JSON.stringify(items);
}
