import { type DeleteResult, deleteJob } from "../kube/calls.ts";
import { type ConnectOptions, connect } from "../kube/connection.ts";
import type { JobView } from "../kube/views.ts";

/** Removes this very Job as it was seen, and what it owns with it; its name stays taken until its pod is gone. */
export async function removeJob(
  cluster: ConnectOptions,
  namespace: string,
  { name, uid, resourceVersion }: Pick<JobView, "name" | "uid" | "resourceVersion">,
): Promise<DeleteResult> {
  return deleteJob(await connect(cluster), namespace, name, { uid, resourceVersion, propagation: "Foreground" });
}
