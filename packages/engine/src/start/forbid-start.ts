import { type RunFiles, startFileOf } from "@paperclip-k8s/runner";
import type { RunContext } from "../run-context.ts";

/** A volume that hangs does not keep the Job from being deleted. */
const TIMEOUT_MS = 500;

/**
 * Makes the files that a runner has to make before it starts the CLI, so that the CLI of a run whose Job is about to be deleted is not started any
 * more: the SIGTERM that follows takes its time, and is lost on a container's first process that has no handler for it yet. The lock file is for
 * runners of earlier versions.
 */
export async function forbidStart({ request, volume }: RunContext, files: RunFiles): Promise<void> {
  const text = `${JSON.stringify({ cancelled: request.runId })}\n`;
  // Without them a CLI that has just been started gets the signal, or the pod is killed at the end of its grace.
  await Promise.all([startFileOf(files), files.lock].map((path) => volume.run("claim", { path, text }, TIMEOUT_MS).catch(() => false)));
}
