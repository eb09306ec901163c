import { type ApiError, isForbidden, isInvalid, isNotFound } from "../kube/api-error.ts";
import type { OutcomeKind, StartFailure } from "../run-outcome.ts";

/** A step before the start failed: what it was for, and why. A request that is refused as it stands is refused again. */
export function notStarted(cause: StartFailure, what: string, error: unknown): OutcomeKind {
  const permanent = (isForbidden(error) && !isQuota(error)) || isNotFound(error) || isInvalid(error);
  return { kind: "never-started", cause, message: `${what}: ${error instanceof Error ? error.message : String(error)}`, permanent };
}

/** A full quota answers 403 too, and empties by itself. */
function isQuota(error: ApiError): boolean {
  return /exceeded quota/.test(error.message);
}
