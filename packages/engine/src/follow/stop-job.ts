import { deleteJob } from "../kube/writes.ts";
import { log, messageOf, type RunContext } from "../run-context.ts";

const PAUSE_MS = 1000;
/** For this long after a result that could not confirm the cancel, it is still tried. */
const TIMEOUT_MS = 900_000;

/** Deletes the Job of a cancelled run, unless another run owns it. Foreground: its name stays taken until its pod is gone. */
export async function stopJob(context: RunContext): Promise<void> {
  const { connection, request, run, clock } = context;
  const owner = { key: request.keys.runId, runId: request.runId };
  const end = clock.now() + TIMEOUT_MS;
  const isWanted = () => run.state.outcome === null || (run.state.outcome.kind === "cancelled" && !run.state.outcome.stopped);
  for (let logged = false; isWanted() && clock.now() < end; logged = true) {
    const { job } = run.state;
    if (job === null) return;
    try {
      const result = await deleteJob(connection, request.namespace, job, { owner, propagation: "Foreground" });
      if (typeof result === "object") run.observe({ kind: "job", job: result.taken });
      else if (result !== "deleted") run.observe({ kind: "job-gone" });
      return;
    } catch (error) {
      if (!logged) log(context, "warning", `Job ${job.name} cannot be deleted: ${messageOf(error)}; trying again`);
      await clock.sleep(PAUSE_MS);
    }
  }
}
