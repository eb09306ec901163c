import { apiOfRun } from "../host/api.ts";
import { issueOf, type RunIssue } from "../host/issue.ts";
import type { ExecutionContext } from "../host/types.ts";
import type { RunLog } from "../observe/log.ts";
import type { Conclusion } from "./result.ts";
import type { Way } from "./way-out.ts";

/** Where a person may have to do something. A host that continues by itself says so only when it does no more: the same words each time help nobody. */
function isForPeople(way: Way | null, { isLastRetry, holdsUnprovedEnds }: RunIssue): boolean {
  return way === "person" || way === "held" || (way === "continue" && (isLastRetry || !holdsUnprovedEnds));
}

/** Long: a busy Paperclip 2026.824 that gets no comment starts another run to get one. */
const TIMEOUT_MS = 20_000;

/**
 * Says on the issue's page what happened and what to do, as the run's own comment: a host shows the summary of a failed run only if the
 * agent itself has not commented, or not at all. It ends before the run does, because the host may not be asked with the run's token later.
 */
export async function commentOnIssue(
  { result: { summary }, way }: Conclusion,
  ctx: ExecutionContext,
  env: NodeJS.ProcessEnv,
  log: RunLog,
): Promise<void> {
  const issue = issueOf(ctx);
  const { id } = issue;
  const api = apiOfRun(ctx, env, TIMEOUT_MS);
  if (!isForPeople(way, issue) || !summary || id === null || api === null) return;
  await api
    .post(`/issues/${encodeURIComponent(id)}/comments`, { body: summary })
    // The result does not wait for a log that the host does not take.
    .catch((error: Error) => void log.warning(`no comment on the issue: ${error.message}`));
}
