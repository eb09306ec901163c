import { isAccessDenied } from "../kube/api-error.ts";
import { getClaim } from "../kube/calls.ts";
import { paths } from "../kube/paths.ts";
import type { ClaimView } from "../kube/views.ts";
import { createUnlessThere } from "../kube/writes.ts";
import { claimManifest } from "../manifest/claim.ts";
import type { StartProblem } from "../outcome/observation.ts";
import type { ClaimVolume } from "../request.ts";
import { errorFacts, retryTransient } from "../retry.ts";
import { log, type RunContext } from "../run-context.ts";
import { setOwnership } from "./volume-ownership.ts";

/** The run's own claims: there, usable, and made where they are missing. Null = they are ready. */
export async function ensureClaims(context: RunContext): Promise<StartProblem | null> {
  for (const claim of context.request.volumes.claims ?? []) {
    const problem = await ensureClaim(context, claim);
    if (problem !== null) return problem;
  }
  return null;
}

async function ensureClaim(context: RunContext, claim: ClaimVolume): Promise<StartProblem | null> {
  const { claimName } = claim;
  try {
    const found = await retryTransient(context, `claim ${claimName} cannot be looked at`, () => look(context, claimName));
    if (found === null && claim.create === null) return { kind: "claim-missing", claim: claimName };
    const why = found === null || found === "unseen" ? null : whyUnusable(found);
    if (why !== null) return { kind: "claim-unusable", claim: claimName, why };
    const isNew = (found === null || found === "unseen") && (await make(context, claim));
    return isNew || claim.setOwnership ? await setOwnership(context, claim) : null;
  } catch (error) {
    return { kind: "claim-failed", claim: claimName, error: errorFacts(error) };
  }
}

/** `unseen`: the account may not read claims, so the answer to the create tells whether it is there. */
async function look({ connection, request, leaving }: RunContext, name: string): Promise<ClaimView | null | "unseen"> {
  try {
    return await getClaim(connection, request.namespace, name, { signal: leaving });
  } catch (error) {
    if (isAccessDenied(error)) return "unseen";
    throw error;
  }
}

/** A claim that waits for its first pod is as good as a bound one. */
function whyUnusable({ phase, deletedAt }: ClaimView): "lost" | "deleting" | null {
  if (phase === "Lost") return "lost";
  return deletedAt === null ? null : "deleting";
}

/** True = made by this run; false = somebody else was first, or it cannot be seen and need not be made. */
async function make(context: RunContext, { claimName, create }: ClaimVolume): Promise<boolean> {
  const { connection, request, leaving } = context;
  if (create === null) return false;
  const manifest = claimManifest(request.namespace, claimName, create);
  const made = await retryTransient(context, `claim ${claimName} cannot be made`, () =>
    createUnlessThere(connection, paths.claims(request.namespace), manifest, { signal: leaving }),
  );
  if (made)
    log(context, "info", `claim ${request.namespace}/${claimName} made: ${create.capacity} of storage class ${create.storageClass}`);
  return made;
}
