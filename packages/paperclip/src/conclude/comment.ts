import { apiOfRun } from "../host/api.ts";
import { issueOf } from "../host/issue.ts";
import type { ExecutionContext } from "../host/types.ts";
import type { RunLog } from "../observe/log.ts";
import type { Conclusion } from "./result.ts";
import type { Way } from "./way-out.ts";

/** Where a person may have to do something. */
const COMMENTED: ReadonlySet<Way> = new Set(["person", "continue", "held"]);

/** Nothing else waits for it, and a busy host without it may start a run more to get a comment. */
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
  const { id } = issueOf(ctx);
  const api = apiOfRun(ctx, env, TIMEOUT_MS);
  if (way === null || !COMMENTED.has(way) || !summary || id === null || api === null) return;
  await api
    .post(`/issues/${encodeURIComponent(id)}/comments`, { body: summary })
    .catch((error: Error) => log.warning(`no comment on the issue: ${error.message}`));
}
