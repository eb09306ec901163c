import { isFinished, type JobView } from "../kube/views.ts";
import type { Adoption } from "../outcome/observation.ts";
import { terminated } from "../outcome/pod-facts.ts";
import { trustOf } from "../record-trust.ts";
import { runFiles } from "../request.ts";
import { withTimeout } from "../retry.ts";
import type { RunContext } from "../run-context.ts";
import { MetaReader } from "../volume/meta.ts";
import { checkedPath, checkedRoot } from "../volume/paths.ts";

/** A volume that takes longer delays only the proof, and the Job's own end is seen without it. */
const READ_TIMEOUT_MS = 1000;
/** The end record is the runner's last line. Where it is not among so many bytes, the run waits for the cluster: what a pod wrote there is checked in one go. */
const LAST_BYTES = 16 * 1024;

/**
 * Nothing of the Job can write any more: it has finished, this process has given its result, or its end record was read. Of a Job that is kept
 * for debugging only the cluster's word counts: nobody deletes it, so that an agent that has signed its own end would go on beside the next run.
 */
export function hasEnded(context: RunContext, job: SeenJob): boolean {
  return isOver(context, job) || (job.expires && hasProvedEnd(context, job));
}

type SeenJob = Pick<JobView, "name" | "uid" | "conditions" | "expires">;

/**
 * The cluster says that the run is over: the Job has finished, or the run's own container has ended. With a container beside it that never ends, as
 * meshes and vaults add one, the Job would not finish before its deadline.
 */
export const isOver = (context: RunContext, job: Omit<SeenJob, "expires">): boolean => isFinished(job) || containerHasEnded(context, job);

const containerHasEnded = ({ watch, request }: RunContext, job: Pick<JobView, "name" | "uid">): boolean =>
  watch.podsOf(job).some((pod) => terminated(pod, request.container.name) !== null);

const hasProvedEnd = ({ settled, provedEnds }: RunContext, { uid }: Pick<JobView, "uid">): boolean =>
  settled.jobs.get(uid)?.ended === true || provedEnds.has(uid);

/** Whether its name may be given away before its pod is gone. Not so for one that only counts as failed, whose pod may still be ending. */
export const needNotWaitForPod = (context: RunContext, job: JobView): boolean =>
  "Complete" in job.conditions || containerHasEnded(context, job) || hasProvedEnd(context, job);

/**
 * Looks for the end record of another run's Job, seconds before the cluster says that the Job has finished. Only a signed record counts: the
 * runner writes it after it has ended the CLI with its processes, and nothing after it. True = it was found now.
 */
export async function proveEnd(context: RunContext, job: JobView): Promise<boolean> {
  const { request, volume, provedEnds } = context;
  const known = hasEnded(context, job) || !job.expires ? null : readAnnotations(context, job);
  const trust = known === null ? null : trustOf(job.annotations[request.keys.records], request.recordSecret, known);
  if (known === null || trust?.kind !== "signed" || trust.key === null) return false;
  const of = { path: known.files.meta, links: "none", bytes: LAST_BYTES } as const;
  const look = async () => {
    const bytes = await volume.run("readLast", of, READ_TIMEOUT_MS);
    const { records } = new MetaReader({ run: known.firstRun, nonce: known.nonce }, trust).push(bytes);
    if (records.some(({ type }) => type === "end")) provedEnds.add(job.uid);
  };
  await withTimeout(context, READ_TIMEOUT_MS, look()).catch(() => {});
  return provedEnds.has(job.uid);
}

/** Null = the Job does not say where its output is, or names a place outside of our volume. */
export function readAnnotations({ request }: RunContext, { annotations }: JobView): Omit<Adoption, "job"> | null {
  const { keys } = request;
  const fromRun = annotations[keys.runId];
  const nonce = annotations[keys.nonce];
  const output = annotations[keys.output];
  if (fromRun === undefined || nonce === undefined || output === undefined) return null;
  try {
    const files = runFiles(checkedPath(checkedRoot(request.output.root), output));
    return { fromRun, nonce, firstRun: annotations[keys.firstRun] ?? fromRun, files };
  } catch {
    return null;
  }
}
