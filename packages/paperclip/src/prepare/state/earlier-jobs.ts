import { setTimeout as sleep } from "node:timers/promises";
import { isFinished, JOB_WAIT_SEC, type JobView, labelValue, listRuns, messageOf } from "@paperclip-k8s/engine";
import { ANNOTATION, LABEL } from "../../host/keys.ts";
import { UnusableVolume } from "../../host/unusable-volume.ts";
import type { RunParts } from "../attempt.ts";

export interface Importing {
  readonly log: (text: string) => unknown;
  /** Aborted = the run is not wanted any more. Asked for only where there is something to wait for. */
  readonly signal: () => Promise<AbortSignal>;
}

/** Often at first, then less and less: such a Job may go on for hours. */
const PAUSE = { firstMs: 2000, mostMs: 30_000 };
const LOG_EVERY_MS = 60_000;

/**
 * Waits until no Job of an adapter before this one works for the agent: it may still write the session, and what is imported now would then be
 * older than what the host has stored. Where that cannot be seen the log says so.
 */
export async function earlierJobsEnded(parts: RunParts, sessionId: string, { log, signal }: Importing): Promise<void> {
  const begun = Date.now();
  let loggedAt = Number.NEGATIVE_INFINITY;
  let pauseMs = PAUSE.firstMs;
  for (;;) {
    const job = await liveJob(parts).catch((error) => {
      log(
        `whether an earlier adapter's Job still writes session ${sessionId} cannot be seen, so it is imported as it is now: ${messageOf(error)}`,
      );
      return null;
    });
    if (job === null) return;
    const waited = Date.now() - begun;
    if (waited > waitSec(job) * 1000)
      throw new UnusableVolume(`session ${sessionId} cannot be imported yet: Job ${job.name} of an earlier adapter still works with it`);
    if (Date.now() - loggedAt >= LOG_EVERY_MS) {
      log(`waiting for Job ${job.name} of an earlier adapter to end before session ${sessionId} is imported`);
      loggedAt = Date.now();
    }
    const ended = await signal();
    if (ended.aborted) return;
    await sleep(pauseMs, undefined, { signal: ended }).catch(() => {});
    pauseMs = Math.min(2 * pauseMs, PAUSE.mostMs);
  }
}

/** As long as a run waits for such a Job before it creates its own. */
const waitSec = ({ deadlineSeconds }: JobView): number =>
  Math.min(JOB_WAIT_SEC.most, deadlineSeconds === null ? JOB_WAIT_SEC.withoutLimit : deadlineSeconds + JOB_WAIT_SEC.pastLimit);

async function liveJob({ ctx, cli, config, inherited }: RunParts): Promise<JobView | null> {
  const selector = `${LABEL.agentId}=${labelValue(ctx.agent.id).value},${LABEL.adapterType}=${cli.type}`;
  const { jobs } = await listRuns({ kubeconfig: config.kubeconfig }, inherited.namespace, selector);
  return jobs.find((job) => job.annotations[ANNOTATION.runner] === undefined && !isFinished(job)) ?? null;
}
