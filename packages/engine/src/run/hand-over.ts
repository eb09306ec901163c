import { createJob, deleteJob } from "../cluster/calls.ts";
import type { ClusterFact } from "../cluster/run-watch.ts";
import type { JobView, PodView } from "../cluster/views.ts";
import { handOverManifest, handOverName } from "../manifest/hand-over.ts";
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

interface Seen {
  job: JobView;
  pod: PodView | null;
  gone: boolean;
}

type HandOverEnd = { readonly done: true; readonly over: true } | { readonly done: false; readonly over: boolean; readonly why: string };

async function follow({ watch, request, clock, io }: RunContext, name: string, job: JobView): Promise<HandOverEnd> {
  const seen: Seen = { job, pod: null, gone: false };
  const ended = new AbortController();
  const subscription = watch.subscribe(
    name,
    (fact) => {
      note(seen, fact);
      if (endOf(seen) !== null) ended.abort();
    },
    job.uid,
  );
  try {
    const patience = request.limits.scheduleTimeoutSec * 1000 + RUN_MS;
    await clock.sleep(patience, AbortSignal.any([ended.signal, io.signal]));
    return endOf(seen) ?? { done: false, over: false, why: whyNot(seen.pod) };
  } finally {
    subscription.close();
  }
}

function note(seen: Seen, fact: ClusterFact): void {
  if (fact.kind === "job") seen.job = fact.job;
  if (fact.kind === "pod") seen.pod = fact.pod;
  seen.gone ||= fact.kind === "job-gone";
}

/** A pod that succeeded is the first to know; one that failed may be followed by another. Null = not over yet. */
function endOf({ job, pod, gone }: Seen): HandOverEnd | null {
  const state = pod?.containers[0]?.state;
  const ran = state?.kind === "terminated";
  if (job.conditions.Complete !== undefined || (ran && state.exitCode === 0)) return { done: true, over: true };
  if (job.conditions.Failed !== undefined) return { done: false, over: ran, why: ran ? saidLast(state.message) : whyNot(pod) };
  return gone ? { done: false, over: false, why: "its Job was deleted" } : null;
}

/** Of a stack trace, the line that names the error. */
function saidLast(message: string | null): string {
  const lines = (message ?? "").split("\n").map((line) => line.trim());
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.find((line) => line !== "") ?? "its pod failed";
}

function whyNot(pod: PodView | null): string {
  const waiting = pod?.containers[0]?.state;
  const said = waiting?.kind === "waiting" ? (waiting.message ?? waiting.reason) : null;
  return pod?.conditions.PodScheduled?.message ?? said ?? "its pod did not end in time";
}
