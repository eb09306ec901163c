import type { RunRequest } from "@paperclip-k8s/engine";
import type { Turn } from "../../prepare/attempt.ts";

/** The only refusal that another token can turn into a yes: this run is not, or no longer, the owner of the issue. */
const OWNERSHIP_CONFLICT = "Issue run ownership conflict";

/** The host's API through the runner, so that a run that is taken over acts as the run that took it. Null where there is nothing to relay. */
export function relayOf({ ctx, env }: Pick<Turn, "ctx" | "env">): RunRequest["relay"] {
  if (env.apiUrl === null || ctx.authToken === undefined) return null;
  return {
    target: env.apiUrl,
    urlEnv: "PAPERCLIP_API_URL",
    tokenEnv: "PAPERCLIP_API_KEY",
    headers: { authorization: "Authorization", runId: "X-Paperclip-Run-Id" },
    retry: { statuses: [409], bodyPattern: OWNERSHIP_CONFLICT, maxSec: 90 },
    maxReplayBytes: 1024 * 1024,
    credentials: { token: ctx.authToken, runId: ctx.runId },
  };
}
