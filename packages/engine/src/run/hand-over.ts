import { createJob, deleteJob } from "../cluster/calls.ts";
import type { JobView } from "../cluster/views.ts";
import { handOverManifest, handOverName } from "../manifest/hand-over.ts";
import { type HandOverEnd, type HandOverSeen, handOverEnd, noteHandOver, whyNotOver } from "./hand-over-end.ts";
import { type RunContext, say } from "./io.ts";
import type { OutcomeKind } from "./outcome.ts";
import { persist } from "./persist.ts";
import type { ClaimVolume } from "./request.ts";

/** Beyond the time a pod may wait for its node: the image, the volume, the change of its files. */
const RUN_MS = 180_000;

/** Has a pod of its own give the claim's volume to the run's group; null = done. */
export async function handOver(context: RunContext, claim: ClaimVolume): Promise<OutcomeKind | null> {
  const { connection, request } = context;
  say(context, "info", `giving the volume of claim ${claim.claimName} to user ${request.user.uid}:${request.user.gid}`);
  const manifest = handOverManifest(request, claim);
  // Another server's is as good: its name is made from the claim's.
  const result = await persist(context, `claim ${claim.claimName} cannot be handed over`, () =>
    createJob(connection, request.namespace, manifest),
  );
  const job = "created" in result ? result.created : result.existing;
  const end = await follow(context, handOverName(request, claim), job);
  const propagation = end.over ? "Background" : "Foreground";
  await deleteJob(connection, request.namespace, job.name, { uid: job.uid, propagation }).catch(() => {});
  if (end.done) return null;
  const message = `the volume of claim ${claim.claimName} could not be given to user ${request.user.uid}:${request.user.gid}: ${end.why}`;
  return { kind: "never-started", cause: "claim-unusable", message, permanent: end.over };
}

async function follow({ watch, request, clock, io }: RunContext, name: string, job: JobView): Promise<HandOverEnd> {
  let seen: HandOverSeen = { job, pod: null, jobGone: false, podGone: false };
  const ended = new AbortController();
  const subscription = watch.subscribe(
    name,
    (fact) => {
      seen = noteHandOver(seen, fact);
      if (handOverEnd(seen) !== null) ended.abort();
    },
    job.uid,
  );
  try {
    const patience = request.limits.scheduleTimeoutSec * 1000 + RUN_MS;
    await clock.sleep(patience, AbortSignal.any([ended.signal, io.signal]));
    return handOverEnd(seen) ?? { done: false, over: false, why: whyNotOver(seen.pod) };
  } finally {
    subscription.close();
  }
}
