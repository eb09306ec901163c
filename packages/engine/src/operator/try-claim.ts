import { tryClaim as ask } from "../kube/calls.ts";
import { type ConnectOptions, connect } from "../kube/connection.ts";
import { claimManifest } from "../manifest/claim.ts";
import type { NewClaim } from "../request.ts";

/** Has the API server look at a claim that a run would make, without making it: throws its refusal. */
export async function tryClaim(cluster: ConnectOptions, namespace: string, name: string, claim: NewClaim): Promise<void> {
  await ask(await connect(cluster), namespace, claimManifest(namespace, name, claim), { timeoutMs: 5000, retry: { attempts: 2 } });
}
