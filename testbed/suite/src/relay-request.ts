import type { RunRequest } from "@paperclip-k8s/engine";

/** A relay of the run to an address of the test's own, with the token that the run has in API_TOKEN. */
export function relayTo(target: string, request: RunRequest, token: string): NonNullable<RunRequest["relay"]> {
  return {
    target,
    urlEnv: "API_URL",
    tokenEnv: "API_TOKEN",
    headers: { authorization: "Authorization", runId: "X-Run-Id" },
    retry: { statuses: [409], bodyPattern: "owner", maxSec: 90 },
    maxReplayBytes: 1024,
    credentials: { token, runId: request.runId },
  };
}
