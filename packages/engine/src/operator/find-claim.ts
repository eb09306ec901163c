import { getClaim } from "../kube/calls.ts";
import { type ConnectOptions, connect } from "../kube/connection.ts";
import type { ClaimView } from "../kube/views.ts";

/** The PersistentVolumeClaim of this name; null = there is none. */
export async function findClaim(cluster: ConnectOptions, namespace: string, name: string): Promise<ClaimView | null> {
  return getClaim(await connect(cluster), namespace, name, { timeoutMs: 5000, retry: { attempts: 2 } });
}
