import type { JobView, PodView, SecretView } from "@paperclip-k8s/engine";
import { isOld, type Judged, over, type Span, unproved } from "./judged.ts";

/** A run's Secret whose Job is gone: deleted without what it owned, or not collected. Jobs and pods were listed after it. */
export function judgeSecret(secret: SecretView, jobs: readonly JobView[], pods: readonly PodView[], span: Span): Judged | null {
  const known = new Set(jobs.map(({ uid }) => uid));
  if (secret.deletedAt !== null || secret.ownerUids.some((uid) => known.has(uid)) || !isOld(secret.createdAt, span)) return null;
  // Which Secret a pod mounts is not looked at: any pod without a Job may be the one.
  const orphan = pods.find(({ jobUid, phase }) => !known.has(jobUid) && phase !== "Succeeded" && phase !== "Failed");
  return orphan === undefined ? over("its Job is gone") : unproved(`its Job is gone, but pod ${orphan.name} may still need it`);
}
