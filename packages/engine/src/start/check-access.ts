import { lackingAccess } from "../kube/access-review.ts";
import type { RunContext } from "../run-context.ts";

/** An API server that does not answer is no reason to wait longer: trouble is met where it hurts. */
const PATIENCE_MS = 5000;

/**
 * Throws, before anything is created, if the account lacks what it needs to follow the run to its end and to end it.
 * The first run of a namespace waits for the answers; later ones have them.
 */
export async function checkAccess({ watch, connection, request, clock, io }: RunContext): Promise<void> {
  const enough = new AbortController();
  const options = { timeoutMs: PATIENCE_MS, retry: { attempts: 1 } };
  const late = clock.sleep(PATIENCE_MS, AbortSignal.any([enough.signal, io.signal])).then(() => null);
  const lacking = Promise.all([watch.refusal(), lackingAccess(connection, request.namespace, options)]);
  const refused = await Promise.race([lacking, late]);
  enough.abort();
  const error = refused?.find((each) => each !== null) ?? null;
  if (error !== null) throw error;
}
