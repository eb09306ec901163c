import type { JobView } from "@paperclip-k8s/engine";
import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { runIdsOf } from "../cluster/survey.ts";
import { isOld, type Judged, over, type Span, unproved } from "./judged.ts";
import { belongsTo, type RunFileSet } from "./run-files.ts";

type Job = Pick<JobView, "annotations">;

/** `seen`: Jobs of the namespaces looked at. `everywhere`: of all namespaces; null = this account may not see them. All were listed after the files. */
export function judgeFiles(files: RunFileSet, seen: readonly Job[], everywhere: readonly Job[] | null, span: Span): Judged | null {
  if (!isOld(files.writtenAt, span) || seen.some((job) => isOf(files, job))) return null;
  if (files.end !== null) return over(`its Job is gone; the runner recorded the end at ${files.end.at}`);
  if (everywhere === null)
    return unproved("no end is on record, and this account cannot see whether a Job in another namespace writes there");
  return everywhere.some((job) => isOf(files, job)) ? null : over("no Job in any namespace works for its run");
}

const isOf = (files: RunFileSet, job: Job): boolean =>
  belongsTo(files, { output: job.annotations[ANNOTATION.output] ?? null, runIds: runIdsOf(job) });
