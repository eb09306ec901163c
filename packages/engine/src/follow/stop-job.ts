import { deleteJob } from "../kube/calls.ts";
import { type RunContext, say } from "../run-context.ts";

const PAUSE_MS = 1000;

/** A cancel nobody confirmed is pursued for this long after its result. */
const PURSUIT_MS = 900_000;

/** Deletes the Job of a cancelled run, foreground: its name stays taken until its pod is gone. Tries on after a result that could not confirm it. */
export async function stopJob(context: RunContext, uid: string): Promise<void> {
  const { connection, request, run, clock } = context;
  const { jobName } = run.state.identity;
  const end = clock.now() + PURSUIT_MS;
  const pursued = () => run.state.outcome === null || (run.state.outcome.kind === "cancelled" && !run.state.outcome.stopped);
  for (let told = false; pursued() && clock.now() < end; told = true) {
    try {
      const result = await deleteJob(connection, request.namespace, jobName, { uid, propagation: "Foreground" });
      if (result !== "deleted") run.observe({ kind: "job-gone" });
      return;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!told) say(context, "warning", `Job ${jobName} cannot be deleted: ${reason}; trying again`);
      await clock.sleep(PAUSE_MS);
    }
  }
}
