import type { ClusterFact, JobView, PodView } from "../kube/views.ts";
import { createJob, deleteJob } from "../kube/writes.ts";
import { volumeOwnershipManifest, volumeOwnershipName } from "../manifest/claim.ts";
import type { StartProblem } from "../outcome/observation.ts";
import type { ClaimVolume } from "../request.ts";
import { retryCreate } from "../retry.ts";
import { log, type RunContext } from "../run-context.ts";

/** Beyond the time a pod may wait for its node: for the image, the volume, and the change of its files. */
const RUN_TIMEOUT_MS = 180_000;
const SAY_EVERY_MS = 60_000;
/** A Job that is not deleted goes by itself, some minutes later. */
const DELETE_TIMEOUT_MS = 5000;

/** Runs a Job whose pod gives the claim's volume to the run's group; null = done. */
export async function setOwnership(context: RunContext, claim: ClaimVolume): Promise<StartProblem | null> {
  const { connection, request } = context;
  const user = `${request.user.uid}:${request.user.gid}`;
  log(context, "info", `giving the volume of claim ${claim.claimName} to user ${user}`);
  const manifest = volumeOwnershipManifest(request, claim);
  // Its name is made from the claim's: a Job that another server has made for the same claim serves as well.
  const result = await retryCreate(context, `the volume of claim ${claim.claimName} cannot be given to user ${user}`, (signal) =>
    createJob(connection, request.namespace, manifest, { signal }),
  );
  const job = "created" in result ? result.created : result.existing;
  const end = await follow(context, volumeOwnershipName(request, claim), job);
  const owner = { key: request.keys.runId, runId: job.annotations[request.keys.runId] ?? null };
  const propagation = end.ran ? "Background" : "Foreground";
  const options = { owner, propagation, exact: false, signal: AbortSignal.timeout(DELETE_TIMEOUT_MS) } as const;
  await deleteJob(connection, request.namespace, job, options).catch(() => {});
  return end.done ? null : { kind: "volume-ownership-failed", claim: claim.claimName, user, why: end.why, failed: end.ran };
}

const secondsSince = (clock: RunContext["clock"], begun: number): string => `${Math.round((clock.now() - begun) / 1000)} s`;

async function follow(context: RunContext, name: string, job: JobView): Promise<OwnershipEnd> {
  const { watch, request, clock, leaving } = context;
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
    const begun = clock.now();
    const end = begun + request.limits.scheduleTimeoutSec * 1000 + RUN_TIMEOUT_MS;
    const over = AbortSignal.any([ended.signal, leaving]);
    for (let left = end - begun; left > 0 && !over.aborted; left = end - clock.now()) {
      await clock.sleep(Math.min(left, SAY_EVERY_MS), over);
      // A host gives up a run that says nothing.
      if (!over.aborted)
        log(context, "info", `still giving the volume of the claim to the run's user: ${secondsSince(clock, begun)} so far`);
    }
    return ownershipEnd(seen) ?? { done: false, ran: false, why: whyNotEnded(seen.pod) };
  } finally {
    subscription.close();
  }
}

/** What is known of the Job. */
interface OwnershipSeen {
  readonly job: JobView;
  readonly pod: PodView | null;
  readonly jobGone: boolean;
  readonly podGone: boolean;
}

/** `ran`: its pod has ended by itself. */
type OwnershipEnd = { readonly done: true; readonly ran: true } | { readonly done: false; readonly ran: boolean; readonly why: string };

export function noteOwnership(seen: OwnershipSeen, fact: ClusterFact): OwnershipSeen {
  if (fact.kind === "job") return { ...seen, job: fact.job };
  if (fact.kind === "job-gone") return { ...seen, jobGone: true };
  if (fact.kind === "pod") return { ...seen, pod: fact.pod };
  return fact.kind === "pod-gone" ? { ...seen, pod: fact.pod, podGone: true } : seen;
}

/** Null = it goes on. A pod that has succeeded shows it before its Job does; one that has failed may be followed by another. */
export function ownershipEnd({ job, pod, jobGone, podGone }: OwnershipSeen): OwnershipEnd | null {
  const state = pod?.containers[0]?.state;
  const ran = state?.kind === "terminated";
  if (job.conditions.Complete !== undefined || (ran && state.exitCode === 0)) return { done: true, ran: true };
  if (job.conditions.Failed !== undefined) return { done: false, ran, why: ran ? errorLine(state.message) : whyNotEnded(pod) };
  // Another server that used the same Job has deleted it. How its pod ended comes by the other watch, and may be late.
  if (!jobGone || (pod !== null && !podGone)) return null;
  return { done: false, ran: false, why: "its Job was deleted" };
}

/** Of a stack trace, the line that names the error. */
function errorLine(message: string | null): string {
  const lines = (message ?? "").split("\n").map((line) => line.trim());
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.find((line) => line !== "") ?? "its pod failed";
}

function whyNotEnded(pod: PodView | null): string {
  const waiting = pod?.containers[0]?.state;
  const reason = waiting?.kind === "waiting" ? (waiting.message ?? waiting.reason) : null;
  return pod?.conditions.PodScheduled?.message ?? reason ?? "its pod did not end in time";
}
