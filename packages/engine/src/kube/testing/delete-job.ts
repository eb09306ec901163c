import type { Connection } from "../connection.ts";
import { type DeleteJobResult, deleteJob, type Propagation } from "../writes.ts";

/** Deletes a Job by its uid, whoever owns it: as somebody outside of the product does. */
export function deleteByUid(
  connection: Connection,
  namespace: string,
  name: string,
  { uid, propagation }: { readonly uid: string; readonly propagation: Propagation },
): Promise<DeleteJobResult> {
  const seen = { name, uid, resourceVersion: "", annotations: {} };
  return deleteJob(connection, namespace, seen, { owner: { key: "nobody", runId: null }, propagation, exact: false });
}
