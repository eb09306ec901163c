import { systemClock } from "../clock.ts";
import { backoffMs } from "../kube/backoff.ts";
import { deleteJob, getJob } from "../kube/calls.ts";
import type { JobView } from "../kube/views.ts";
import type { RunContext } from "../run-context.ts";

const LOOK = { timeoutMs: 5000, retry: { attempts: 1 } };
const PAUSE = { minMs: 2000, maxMs: 30_000 };
/** An API server may carry out a request this long after nobody waits for it any more. */
const LATE_MS = 60_000;
const GIVE_UP_MS = 900_000;

/**
 * Removes, behind the result, the Job that a request whose answer was lost may have left: nobody else knows whose it is, and it would hold
 * its key for a day. Does not keep a server from exiting.
 */
export async function deleteOrphanLater(
  { connection, request }: RunContext,
  name: string,
  isOurs: (job: JobView) => boolean,
): Promise<void> {
  const begun = systemClock.now();
  const age = () => systemClock.now() - begun;
  for (let failures = 1; age() < GIVE_UP_MS; failures++) {
    try {
      const lastLook = age() >= LATE_MS;
      const job = await getJob(connection, request.namespace, name, LOOK);
      if (job !== null && isOurs(job))
        return void (await deleteJob(connection, request.namespace, name, { ...LOOK, uid: job.uid, propagation: "Foreground" }));
      if (lastLook) return;
      await systemClock.sleep(Math.max(0, LATE_MS - age()), undefined, false);
    } catch {
      // No answer, no end.
      await systemClock.sleep(backoffMs(PAUSE, failures, Math.random), undefined, false);
    }
  }
}
