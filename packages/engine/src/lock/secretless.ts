import type { JobView } from "../kube/views.ts";
import { patchSecret } from "../kube/writes.ts";
import { secretName } from "../manifest/names.ts";
import { hasStarted } from "../outcome/pod-facts.ts";
import type { RunContext } from "../run-context.ts";

const CALL = { timeoutMs: 5000, retry: { attempts: 1 } } as const;

/**
 * Whether the Job that is waited for never got its Secret: its server died in between, and no pod of it can start. Looked at only when the wait has
 * lasted longer than a live server needs, and believed when two looks say so. An error, such as a missing permission, says nothing.
 */
export function createSecretLook(context: RunContext, job: JobView, begun: number): () => Promise<boolean> {
  const { clock, connection, request, run, watch } = context;
  const nonce = job.annotations[request.keys.nonce];
  let nextAt = begun + run.timeouts.secretless;
  let missing = 0;
  return async () => {
    if (missing >= 2) return true;
    const hasBegun = watch.podsOf(job).some((pod) => hasStarted(pod, request.container.name));
    if (nonce === undefined || hasBegun || clock.now() < nextAt) return false;
    nextAt = clock.now() + run.timeouts.secretless / 4;
    // Changes nothing, and needs no permission to read what is in Secrets.
    const there = await patchSecret(connection, request.namespace, secretName(job.name, nonce), { labels: {}, data: {} }, CALL).catch(
      () => null,
    );
    missing = there === false ? missing + 1 : 0;
    return missing >= 2;
  };
}
