import type { OutcomeKind, StartFailure } from "../run-outcome.ts";
import type { ConflictFacts, ErrorFacts, Observation, StartProblem } from "./observation.ts";
import type { RunState } from "./state.ts";

/** The outcome of a run that ends before its Job has started; null = this fact does not end it. */
export function endBeforeStart(state: RunState, fact: Observation): OutcomeKind | null {
  const problem = fact.kind === "start-problem" ? fact.problem : null;
  const hasLeft = fact.kind === "left-before-job" && state.acceptedAt === null;
  if (problem === null && !hasLeft) return null;
  // A caller that asked to leave gets that as the outcome, not the problem that came in between.
  if (state.cancel !== null) return { kind: "cancelled", reason: state.cancel.reason, exitCode: null, stopped: state.orphans.length === 0 };
  if (problem === null || (state.detach !== null && state.acceptedAt === null))
    return { kind: "detached", reason: state.detach?.reason ?? "asked to leave" };
  return fromProblem(state, problem);
}

function fromProblem({ identity }: RunState, fact: StartProblem): OutcomeKind {
  const { namespace, jobName } = identity;
  switch (fact.kind) {
    case "volume-unusable":
      return failed("volume-unusable", `the shared volume at ${fact.root} cannot be used`, fact.error);
    case "access-denied":
      return failed("job-create-failed", "the run could not be followed to its end", fact.error);
    case "claim-missing":
      return neverStarted("claim-missing", `namespace ${namespace} has no claim ${fact.claim}, and nothing says how to make it`, true);
    case "claim-unusable":
      return neverStarted("claim-unusable", `claim ${namespace}/${fact.claim} ${UNUSABLE[fact.why]}`, fact.why === "lost");
    case "claim-failed":
      return failed("claim-create-failed", `claim ${fact.claim} could not be made ready`, fact.error);
    case "volume-ownership-failed":
      return neverStarted(
        "claim-unusable",
        `the volume of claim ${fact.claim} could not be given to user ${fact.user}: ${fact.why}`,
        fact.failed,
      );
    case "jobs-not-listed":
      return neverStarted(
        "jobs-not-listed",
        `the Jobs of namespace ${namespace} could not be listed within ${seconds(fact.waitedMs)}, so it is not known whether another run holds the same key`,
      );
    case "nothing-to-adopt":
      return neverStarted("nothing-to-adopt", `the Job of the run that this one continues is no longer in namespace ${namespace}`);
    case "lock-taken": {
      const waited = `${conflictText(fact.by, `${namespace}/`)} holds ${keyText(fact.by)}; waited ${seconds(fact.waitedMs)} for it`;
      return blocked(fact.by, fact.decision?.message ?? waited, fact.decision?.code);
    }
    case "output-unknown":
      return blocked(fact.by, `Job ${namespace}/${fact.by.job}${ofRun(fact.by)} does not say where below ${fact.root} its output is`);
    case "conflict-not-removed":
      return failed(
        "job-create-failed",
        `Job ${fact.job}, which ${fact.started ? "holds the key" : "never started"}, could not be removed`,
        fact.error,
      );
    case "takeover-failed":
      return failed("takeover-failed", `Job ${namespace}/${fact.by.job}${ofRun(fact.by)} goes on, but could not be taken over`, fact.error);
    case "create-rejected":
      return failed(
        "job-create-failed",
        fact.unknown ? `whether Job ${jobName} was created is not known, but it has not started` : `Job ${jobName} was not created`,
        fact.error,
      );
    case "secret-rejected":
      return failed("secret-create-failed", `Secret ${fact.secret} was not created`, fact.error);
  }
}

export function neverStarted(cause: StartFailure, message: string, permanent = false): OutcomeKind {
  return { kind: "never-started", cause, message, permanent };
}

const failed = (cause: StartFailure, what: string, error: ErrorFacts): OutcomeKind =>
  neverStarted(cause, `${what}: ${error.message}`, isPermanent(error));

/**
 * A request that the API server rejects as it stands is rejected again: webhooks do so with 400. A full quota answers 403 too, but empties by
 * itself. A certificate that is not accepted after some time has to be replaced by somebody.
 */
function isPermanent({ status, message, certificate }: ErrorFacts): boolean {
  return certificate === true || status === 400 || status === 404 || status === 422 || (status === 403 && !/exceeded quota/.test(message));
}

const UNUSABLE = {
  lost: "has lost its volume (phase Lost): bring the volume back, or delete the claim to start anew",
  deleting: "is being deleted: a new one can be made when it is gone",
};

function blocked(by: ConflictFacts, message: string, code: string | null = null): OutcomeKind {
  return { kind: "blocked", code, message, byJob: by.job, byRun: by.runId };
}

/** For messages and log lines: the Job that is in the way. */
export function conflictText(by: ConflictFacts, prefix = ""): string {
  return `Job ${prefix}${by.job}${ofRun(by)}${by.ours ? "" : " (not started by this version, so it is left alone)"}`;
}

export const keyText = ({ sameKey }: ConflictFacts): string => (sameKey ? "the same key" : "a key that overlaps");
const ofRun = ({ runId }: ConflictFacts): string => (runId === null ? "" : ` of run ${runId}`);
export const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
