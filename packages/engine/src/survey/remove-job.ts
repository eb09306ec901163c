import { type DeleteResult, deleteJob } from "../cluster/calls.ts";
import { type ConnectOptions, connect } from "../cluster/connection.ts";

/** Removes this very Job, and what it owns with it; its name stays taken until its pod is gone. */
export async function removeJob(
  cluster: ConnectOptions,
  namespace: string,
  job: { readonly name: string; readonly uid: string },
): Promise<DeleteResult> {
  return deleteJob(await connect(cluster), namespace, job.name, { uid: job.uid, propagation: "Foreground" });
}
