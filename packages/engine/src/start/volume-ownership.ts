import { createJob, deleteJob } from "../kube/calls.ts";
import type { JobView } from "../kube/views.ts";
import { volumeOwnershipManifest, volumeOwnershipName } from "../manifest/volume-ownership.ts";
import type { ClaimVolume } from "../request.ts";
import { retryTransient } from "../retry.ts";
import { type RunContext, say } from "../run-context.ts";
import type { OutcomeKind } from "../run-outcome.ts";
import { noteOwnership, type OwnershipEnd, type OwnershipSeen, ownershipEnd, whyNotOver } from "./volume-ownership-end.ts";

/** Beyond the time a pod may wait for its node: the image, the volume, the change of its files. */
const RUN_MS = 180_000;

/** Has a pod of its own give the claim's volume to the run's group; null = done. */
export async function setOwnership(context: RunContext, claim: ClaimVolume): Promise<OutcomeKind | null> {
  const { connection, request } = context;
  say(context, "info", `giving the volume of claim ${claim.claimName} to user ${request.user.uid}:${request.user.gid}`);
  const manifest = volumeOwnershipManifest(request, claim);
  // Another server's is as good: its name is made from the claim's.
  const result = await retryTransient(context, `claim ${claim.claimName} cannot be handed over`, () =>
    createJob(connection, request.namespace, manifest),
  );
  const job = "created" in result ? result.created : result.existing;
  const end = await follow(context, volumeOwnershipName(request, claim), job);
  const propagation = end.over ? "Background" : "Foreground";
  await deleteJob(connection, request.namespace, job.name, { uid: job.uid, propagation }).catch(() => {});
  if (end.done) return null;
  const message = `the volume of claim ${claim.claimName} could not be given to user ${request.user.uid}:${request.user.gid}: ${end.why}`;
  return { kind: "never-started", cause: "claim-unusable", message, permanent: end.over };
}

async function follow({ watch, request, clock, io }: RunContext, name: string, job: JobView): Promise<OwnershipEnd> {
  let seen: OwnershipSeen = { job, pod: null, jobGone: false, podGone: false };
  const ended = new AbortController();
  const subscription = watch.subscribe(
    name,
    (fact) => {
      seen = noteOwnership(seen, fact);
      if (ownershipEnd(seen) !== null) ended.abort();
    },
    job.uid,
  );
  try {
    const patience = request.limits.scheduleTimeoutSec * 1000 + RUN_MS;
    await clock.sleep(patience, AbortSignal.any([ended.signal, io.signal]));
    return ownershipEnd(seen) ?? { done: false, over: false, why: whyNotOver(seen.pod) };
  } finally {
    subscription.close();
  }
}
