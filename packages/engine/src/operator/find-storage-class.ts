import { hasStorageClass } from "../kube/calls.ts";
import { type ConnectOptions, connect } from "../kube/connection.ts";

/** Whether the cluster has a StorageClass of this name. */
export async function findStorageClass(cluster: ConnectOptions, name: string): Promise<boolean> {
  return hasStorageClass(await connect(cluster), name, { timeoutMs: 5000, retry: { attempts: 2 } });
}
