import type { RunContext } from "../run-context.ts";

/** A volume that hangs does not keep the Job from being deleted. */
const TIMEOUT_MS = 500;

/**
 * Takes the lock file of a run whose Job is about to be deleted, so that a runner which is just starting finds it taken and starts no CLI: the
 * SIGTERM that follows would be lost on a container's first process that has no handler for it yet. A runner that has the file hears the signal.
 */
export async function forbidStart({ request, volume }: RunContext, lockFile: string): Promise<void> {
  const text = `${JSON.stringify({ cancelled: request.runId })}\n`;
  // Without it the pod is killed at the end of its grace.
  await volume.run("claim", { path: lockFile, text }, TIMEOUT_MS).catch(() => false);
}
