import type { RunRequest } from "@paperclip-k8s/engine";
import type { Attempt } from "./attempt.ts";

/** The host's answer to a run that does not own the issue, or no longer: only here can another token help. */
const OWNERSHIP_CONFLICT = "Issue run ownership conflict";

/** The pod reaches the host's API through the runner, so that a Job that is taken over acts as the run that took it. Null = nothing to relay. */
export function relayOf({ inputs: { ctx }, env }: Attempt): RunRequest["relay"] {
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
