import { type RunOutcome, type StartFailure, standing } from "@paperclip-k8s/engine";
import { DETACHED_CODE } from "../host/runs.ts";
import type { ExecutionResult } from "../host/types.ts";
import { missingAdvice, missingOf, mountAdvice } from "../prepare/tools/choice.ts";
import type { AttemptResult } from "./attempts.ts";
import { complaint, exitFailure, faultFailure, sentence, withExit } from "./exit.ts";

/** What went wrong, by our own code for it; what the host is given follows from the way out. */
export interface Failure extends Pick<ExecutionResult, "errorFamily" | "retryNotBefore" | "clearSession"> {
  readonly errorCode: string;
  readonly errorMessage: string;
}

const KILLED_CODES = {
  oom: "k8s_oom_killed",
  "output-limit": "output_limit_exceeded",
  eviction: "k8s_evicted",
  preemption: "k8s_preempted",
  "node-loss": "k8s_node_lost",
  runner: "k8s_runner_failed",
} as const;
const START_CODES: Partial<Record<StartFailure, string>> = {
  "job-create-failed": "k8s_job_create_failed",
  "jobs-not-listed": "k8s_concurrency_guard_unreachable",
  "nothing-to-adopt": "k8s_job_create_failed",
  "takeover-failed": "k8s_takeover_failed",
  "secret-create-failed": "k8s_prompt_secret_create_failed",
  "volume-unusable": "k8s_volume_unusable",
  "claim-create-failed": "k8s_job_create_failed",
  "claim-unusable": "k8s_volume_unusable",
  "claim-not-writable": "k8s_volume_unusable",
  "state-unreadable": "k8s_volume_unusable",
};

type Ended = Omit<AttemptResult, "attempt" | "adopted"> & Partial<Pick<AttemptResult, "attempt">>;
type NeverStarted = Extract<RunOutcome, { kind: "never-started" }>;

/** What went wrong, cause first; null = the attempt succeeded. Only an exit code of 0 without any complaint is a success. */
export function failureOf(result: Ended): Failure | null {
  const failure = causeOf(result);
  const { kind, evidence } = result.outcome;
  const { state } = evidence;
  // There is nothing to say about a session that was saved, or that goes on with its Job.
  if (failure === null || state == null || state.saved || kind === "detached" || kind === "superseded") return failure;
  return { ...failure, errorMessage: `${failure.errorMessage}; ${standing(state)}` };
}

function causeOf(result: Ended): Failure | null {
  const { outcome } = result;
  switch (outcome.kind) {
    case "exited":
      return exitFailure(result);
    case "cancelled":
      return {
        errorCode: "cancelled",
        errorMessage: `Cancelled: ${outcome.reason}${outcome.stopped ? "" : `; ${whoMayWork(outcome, "the pod")} has not confirmed that it stopped`}`,
      };
    case "timed-out":
      return timedOut(outcome, result);
    case "never-started":
      return {
        errorCode: startCode(outcome),
        errorMessage: `The agent did not start: ${outcome.message}${advice(outcome, result.attempt)}`,
      };
    case "killed": {
      const remedy = outcome.remedy === null ? "" : `; ${outcome.remedy}`;
      const errorMessage = `${sentence(outcome.message)}${withExit(outcome.exitCode)}${remedy}${complaint(result)}`;
      return { errorCode: KILLED_CODES[outcome.by], errorMessage };
    }
    case "deleted":
      return {
        errorCode: "k8s_job_deleted_externally",
        errorMessage: `${sentence(outcome.message)}${withExit(outcome.exitCode)}${complaint(result)}`,
      };
    case "detached":
      return { errorCode: DETACHED_CODE, errorMessage: detachedMessage(outcome) };
    case "superseded":
      return { errorCode: "k8s_superseded", errorMessage: `Run ${outcome.byRun} has taken this run's Job over` };
    case "end-unknown":
      return {
        errorCode: "k8s_job_state_mismatch",
        errorMessage: `How the run ended is not known: ${outcome.message}. The Job is left as it is`,
      };
    case "reattach-failed":
      return { errorCode: "k8s_pod_reattach_failed", errorMessage: `${outcome.message}. The Job is left as it is` };
    case "blocked":
      return {
        errorCode: outcome.code ?? "k8s_concurrent_run_blocked",
        errorMessage: outcome.message,
        retryNotBefore: new Date(result.endedAt + 60_000).toISOString(),
      };
  }
}

/** A CLI that waited for its quota until the time was up has not failed for lack of time. */
function timedOut({ by }: Extract<RunOutcome, { kind: "timed-out" }>, result: Ended): Failure {
  const errorMessage = `Time limit reached${by === "deadline" ? " (the Job's own deadline)" : ""}${complaint(result)}`;
  if (result.fault?.kind !== "quota") return { errorCode: "timeout", errorMessage };
  return { ...faultFailure(result.fault, result.endedAt), errorMessage };
}

function detachedMessage({ reason, evidence }: Extract<RunOutcome, { kind: "detached" }>): string {
  if (evidence.jobUid === null) return `Not started: ${reason}`;
  return `Detached: ${reason}; Job ${evidence.namespace}/${evidence.jobName} goes on, and the next run takes it over`;
}

/** Of a cancelled run: one without a Job was still to take over the Job of an earlier one. */
export const whoMayWork = ({ evidence }: Pick<RunOutcome, "evidence">, pod: string): string =>
  evidence.jobUid === null ? "the agent of an earlier run" : pod;

/** What no retry can fix needs the operator; the rest may pass by itself. */
function startCode({ permanent, cause }: NeverStarted): string {
  if (permanent && cause !== "claim-create-failed") return "configuration_incomplete";
  return START_CODES[cause] ?? "k8s_pod_schedule_failed";
}

/** What to change, where the cluster's own message does not say it. */
function advice(outcome: NeverStarted, attempt: Ended["attempt"]): string {
  const missing = missingOf(outcome);
  if (missing !== null && attempt !== undefined) return `. ${missingAdvice(missing, attempt)}`;
  if (outcome.cause !== "claim-missing") return attempt === undefined ? "" : mountAdvice(outcome.message, attempt);
  return ". Set Session storage class (agentDbStorageClass) to the storage class it is to be made of, make the claim yourself, or choose another Session storage (agentDbMode)";
}
