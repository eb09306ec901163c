import { randomBytes } from "node:crypto";
import type { SelfCheckConfig } from "@paperclip-k8s/runner/self-check";
import { selfCheckText } from "@paperclip-k8s/runner/self-check-text";
import { runnerText } from "@paperclip-k8s/runner/text";
import { mayAccess } from "../kube/access-review.ts";
import { ApiError, isForbidden, isUnknownPath } from "../kube/api-error.ts";
import { getClaim, hasStorageClass } from "../kube/calls.ts";
import { connect } from "../kube/connection.ts";
import type { ConnectOptions } from "../kube/credentials.ts";
import { paths } from "../kube/paths.ts";
import { type Permission, permissions } from "../kube/permissions.ts";
import type { ClaimView } from "../kube/views.ts";
import { dryRun } from "../kube/writes.ts";
import { claimManifest } from "../manifest/claim.ts";
import { buildSubmission } from "../manifest/submission.ts";
import { type NewClaim, type RunRequest, removablePaths, runFiles } from "../request.ts";
import { openVolume } from "../volume/volume.ts";

// Checks of what a run would need, without a run.

/** A person waits for the answers: fewer tries than a run makes. */
const LIMITS = { timeoutMs: 5000, retry: { attempts: 2 } } as const;

/**
 * Which of the permissions that runs need the account has, all asked at once; `allowed` null: the cluster does not say.
 * Throws when the API server cannot be reached at all.
 */
export async function reviewPermissions(cluster: ConnectOptions, namespaceOf: (permission: Permission) => string | null) {
  const connection = await connect(cluster);
  const asked = permissions.flatMap((permission) => {
    const namespace = namespaceOf(permission);
    return namespace === null ? [] : [{ permission, namespace }];
  });
  return Promise.all(
    asked.map(async ({ permission, namespace }) => {
      try {
        return { permission, allowed: await mayAccess(connection, namespace, permission, LIMITS) };
      } catch (error) {
        // A cluster may not let everybody ask: then only the attempt shows it.
        if (isForbidden(error) || isUnknownPath(error)) return { permission, allowed: null };
        throw error instanceof ApiError ? error : new ApiError("api_unreachable", String(error), { cause: error });
      }
    }),
  );
}

/** The PersistentVolumeClaim of this name; null: there is none. */
export async function findClaim(cluster: ConnectOptions, namespace: string, name: string): Promise<ClaimView | null> {
  return getClaim(await connect(cluster), namespace, name, LIMITS);
}

export async function findStorageClass(cluster: ConnectOptions, name: string): Promise<boolean> {
  return hasStorageClass(await connect(cluster), name, LIMITS);
}

/** Has the API server check a claim that a run would create, without creating it: throws its refusal. */
export async function tryClaim(cluster: ConnectOptions, namespace: string, name: string, claim: NewClaim): Promise<void> {
  await dryRun(await connect(cluster), paths.claims(namespace), claimManifest(namespace, name, claim), LIMITS);
}

/** Has the API server check the very Job this run would create, without creating it: throws its refusal, or returns its warnings. */
export async function tryRun(request: RunRequest, cluster: ConnectOptions): Promise<readonly string[]> {
  const { job } = buildSubmission(request, randomBytes(12).toString("hex"), runnerText);
  return dryRun(await connect(cluster), paths.jobs(request.namespace), job(), { ...LIMITS, timeoutMs: 10_000 });
}

/** Creates a run's files on the shared volume and removes them again; throws what stands in the way. */
export async function tryVolume({ output, user }: Pick<RunRequest, "output" | "user">): Promise<void> {
  const files = runFiles(output.path);
  const volume = openVolume(output.root);
  try {
    await volume.prepare(files, process.getuid?.() === 0 ? user : null);
    await volume.remove(removablePaths(files));
  } finally {
    volume.release();
  }
}

/** The command of a run in which a pod checks itself: one line of output per finding. */
export function selfCheckArgv(runtime: readonly [string, ...string[]], config: SelfCheckConfig): readonly [string, ...string[]] {
  return [...runtime, "-e", selfCheckText, JSON.stringify(config)];
}
