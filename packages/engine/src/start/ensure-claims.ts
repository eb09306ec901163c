import { isInvalid, isRefused } from "../kube/api-error.ts";
import { createClaim, getClaim } from "../kube/calls.ts";
import type { ClaimView } from "../kube/views.ts";
import { claimManifest } from "../manifest/claim.ts";
import type { ClaimVolume } from "../request.ts";
import { retryTransient } from "../retry.ts";
import { type RunContext, say } from "../run-context.ts";
import type { OutcomeKind, StartFailure } from "../run-outcome.ts";
import { setOwnership } from "./volume-ownership.ts";

/** Claims of the run's own: there, usable, and made where they are not there yet. What keeps the run from starting, or null. */
export async function ensureClaims(context: RunContext): Promise<OutcomeKind | null> {
  for (const claim of context.request.volumes.claims ?? []) {
    const refused = await ensureClaim(context, claim);
    if (refused !== null) return refused;
  }
  return null;
}

async function ensureClaim(context: RunContext, claim: ClaimVolume): Promise<OutcomeKind | null> {
  const { claimName } = claim;
  try {
    const found = await retryTransient(context, `claim ${claimName} cannot be looked at`, () => look(context, claimName));
    if (typeof found === "object" && found !== null) {
      const unusable = whyUnusable(context, found);
      if (unusable !== null) return unusable;
    }
    if (found === null && claim.create === null)
      return notStarted(
        "claim-missing",
        `namespace ${context.request.namespace} has no claim ${claimName}, and nothing says how to make it`,
        true,
      );
    const isNew = (found === null || found === "unseen") && (await make(context, claim));
    return isNew || claim.setOwnership ? await setOwnership(context, claim) : null;
  } catch (error) {
    // A full quota answers 403 too, and empties by itself.
    const permanent = isRefused(error) || isInvalid(error);
    return notStarted(
      "claim-create-failed",
      `claim ${claimName} could not be made ready: ${error instanceof Error ? error.message : String(error)}`,
      permanent,
    );
  }
}

/** Who may not look goes by what a create answers. */
async function look({ connection, request }: RunContext, name: string): Promise<ClaimView | null | "unseen"> {
  try {
    return await getClaim(connection, request.namespace, name);
  } catch (error) {
    if (isRefused(error)) return "unseen";
    throw error;
  }
}

/** A claim that waits for its first pod is as good as a bound one. */
function whyUnusable(context: RunContext, { name, phase, deletedAt }: ClaimView): OutcomeKind | null {
  const where = `claim ${context.request.namespace}/${name}`;
  if (phase === "Lost")
    return notStarted(
      "claim-unusable",
      `${where} has lost its volume (phase Lost): bring the volume back, or delete the claim to start anew`,
      true,
    );
  return deletedAt === null
    ? null
    : notStarted("claim-unusable", `${where} is being deleted: a new one can be made when it is gone`, false);
}

/** True = made by this run; false = somebody else was first, or it cannot be seen and need not be made. */
async function make(context: RunContext, { claimName, create }: ClaimVolume): Promise<boolean> {
  const { connection, request } = context;
  if (create === null) return false;
  const manifest = claimManifest(request.namespace, claimName, create);
  const made = await retryTransient(context, `claim ${claimName} cannot be made`, () =>
    createClaim(connection, request.namespace, manifest),
  );
  if (made)
    say(context, "info", `claim ${request.namespace}/${claimName} made: ${create.capacity} of storage class ${create.storageClass}`);
  return made;
}

const notStarted = (cause: StartFailure, message: string, permanent: boolean): OutcomeKind => ({
  kind: "never-started",
  cause,
  message,
  permanent,
});
