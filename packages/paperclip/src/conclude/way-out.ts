import type { RunOutcome } from "@paperclip-k8s/engine";
import type { FaultKind } from "../agent-cli/fault.ts";
import type { ExecutionResult } from "../host/types.ts";
import { sha256 } from "../sha256.ts";
import { type AttemptResult, type Attempts, hasWorked, isStopped } from "./attempts.ts";
import type { Failure } from "./failure.ts";

/**
 * Who goes on after a failure, and how.
 * person: somebody changes something, then a comment or the status todo starts the next run.
 * retry: the host tries again by itself, because the cause may pass.
 * continue: the host continues by itself a few times, then a comment does it.
 * free: somebody stopped the run; a comment continues.
 * held: nobody proved that the agent has stopped, so the host starts nothing until an operator has looked.
 */
export type Way = "person" | "retry" | "continue" | "free" | "held";

/** The way out of a failure, and the fields with which the host takes it. Nothing in them claims more than is proved. */
export interface WayOut extends Pick<ExecutionResult, "errorFamily" | "retryNotBefore" | "executionRecovery"> {
  readonly way: Way;
  readonly errorCode: string;
  readonly resultJson: Readonly<Record<string, unknown>>;
}

type Named = Pick<Failure, "errorCode" | "errorMessage">;

/** Under this code the host waits for a person and starts nothing by itself. */
export const NEEDS_A_PERSON = "configuration_incomplete";
/** The host's own marker (2026.916) that the agent has stopped and the next run goes on with what is there. */
const CONTINUE = { conversationContinuation: "continue_conversation_v1" } as const;
/** Proof for the host that it may simply run again. */
export const NOT_STARTED = { kind: "bootstrap", providerWorkStarted: false } as const;

/** `sessionId`: the session that is kept for the next run; null = none. */
export function wayOut(attempts: Attempts, failure: Failure, sessionId: string | null, isLastRetry: boolean): WayOut {
  const { errorCode, errorFamily, retryNotBefore } = failure;
  const way = wayOf(attempts, failure, sessionId, isLastRetry);
  const later = { ...(errorFamily == null ? {} : { errorFamily }), ...(retryNotBefore == null ? {} : { retryNotBefore }) };
  switch (way) {
    case "person":
      return toPerson(failure, hasWorked(attempts));
    case "retry":
      return { way, errorCode, ...later, ...retryFields(attempts, failure) };
    case "continue":
      return { way, errorCode, ...later, resultJson: CONTINUE };
    case "free":
      return { way, errorCode, ...cancelled(attempts, sessionId) };
    case "held":
      return { way, errorCode, ...later, resultJson: {} };
  }
}

/** The way out of an attempt that could not be prepared. `passes`: the cause may be gone at the next try. */
export function wayOutUnprepared(cause: Named & { readonly passes: boolean }, isLastRetry: boolean, worked: boolean): WayOut {
  if (!cause.passes || isLastRetry) return toPerson(cause, worked);
  return { way: "retry", errorCode: cause.errorCode, ...retryOf(worked) };
}

/** The fields of an end that somebody has to do something about. The cause is our own code: the host knows only its own. */
function toPerson({ errorCode, errorMessage }: Named, worked: boolean): WayOut {
  const fingerprint = sha256(`${errorCode}\n${errorMessage}`).slice(0, 16);
  const resultJson = { cause: errorCode, configurationIncomplete: { fingerprint } };
  const base = { way: "person", errorCode: NEEDS_A_PERSON } as const;
  return worked ? { ...base, resultJson: { ...resultJson, ...CONTINUE } } : { ...base, executionRecovery: NOT_STARTED, resultJson };
}

function wayOf(attempts: Attempts, failure: Failure, sessionId: string | null, isLastRetry: boolean): Way {
  const { outcome, fault } = attempts.last;
  /** After its last retry the host starts none by itself, so a comment has to say how to go on. */
  const ifRetried = (way: Way): Way => (isLastRetry && way === "retry" ? "continue" : way);
  switch (outcome.kind) {
    case "exited":
      // The host counts its continuations after a limit of turns apart.
      return fault?.kind === "step-limit" ? wayOfExit(attempts.last, failure) : ifRetried(wayOfExit(attempts.last, failure));
    case "cancelled":
      return outcome.stopped ? "free" : "held";
    case "timed-out":
      return ifStopped(ifRetried(isLater(failure) ? "retry" : "continue"), outcome);
    case "never-started":
      if (outcome.permanent) return "person";
      if (!isLastRetry) return "retry";
      // By its code alone a later run knows that this one may own a live Job, and takes it over; a person's end has another code.
      return outcome.cause === "takeover-failed" ? "held" : "person";
    case "blocked":
      return isLastRetry ? "person" : "retry";
    case "killed":
      return ifRetried(wayOfKill(outcome, sessionId));
    case "deleted":
      return ifStopped("person", outcome);
    case "detached":
      return "retry";
    case "superseded":
    case "end-unknown":
    case "reattach-failed":
      return "held";
  }
}

const isLater = ({ errorFamily }: Failure): boolean => errorFamily === "transient_upstream" || errorFamily === "provider_quota";

const ifStopped = (way: Way, outcome: RunOutcome): Way => (isStopped(outcome) ? way : "held");

function wayOfKill(outcome: Extract<RunOutcome, { kind: "killed" }>, sessionId: string | null): Way {
  switch (outcome.by) {
    case "oom":
    case "output-limit":
      return "person";
    case "eviction":
    case "preemption":
      // The cluster took the pod: the same session goes on in another one.
      return ifStopped(sessionId === null ? "continue" : "retry", outcome);
    case "runner":
      return ifStopped("continue", outcome);
    case "node-loss":
      return "held";
  }
}

const FAULT_WAYS: Readonly<Record<FaultKind, Way>> = {
  auth: "person",
  "model-not-found": "person",
  "bad-arguments": "person",
  "bad-request": "person",
  "context-overflow": "person",
  quota: "retry",
  transient: "retry",
  // The host has a continuation of its own for it.
  "step-limit": "retry",
  "unknown-session": "continue",
  "corrupted-session": "continue",
  refusal: "continue",
  truncated: "continue",
  other: "continue",
};

function wayOfExit(result: AttemptResult, { errorCode }: Failure): Way {
  const { outcome, fault } = result;
  if (outcome.evidence.output.forged) return "held";
  if (errorCode === "k8s_oom_killed") return "person";
  if (fault === null) return "continue";
  // The model had accepted earlier requests of this run: another one may go through.
  if (fault.kind === "bad-request" && hasWorked({ earlier: [], last: result })) return "continue";
  return FAULT_WAYS[fault.kind];
}

function retryFields(attempts: Attempts, failure: Failure): Pick<WayOut, "errorFamily" | "executionRecovery" | "resultJson"> {
  const { outcome, fault } = attempts.last;
  // The next run takes the Job over.
  if (outcome.kind === "detached" && outcome.evidence.jobUid !== null) return { resultJson: CONTINUE };
  if (outcome.kind === "exited" && fault?.kind === "step-limit") return { resultJson: {} };
  if (outcome.kind === "exited" || isLater(failure)) return { resultJson: CONTINUE };
  return retryOf(hasWorked(attempts));
}

/** With this the host tries again, although nothing but the cluster failed. */
function retryOf(worked: boolean): Pick<WayOut, "errorFamily" | "executionRecovery" | "resultJson"> {
  const errorFamily = "transient_upstream";
  return worked ? { errorFamily, resultJson: CONTINUE } : { errorFamily, executionRecovery: NOT_STARTED, resultJson: {} };
}

/** The fields with which the host takes a cancel for acknowledged, so that the issue is free for the next run. */
export type Acknowledged = Pick<WayOut, "executionRecovery" | "resultJson">;

export function cancelled(attempts: Attempts, sessionId: string | null): Acknowledged {
  const { outcome, endedAt } = attempts.last;
  const forced = outcome.evidence.endRecord?.signal === "SIGKILL";
  const resultJson = { executionCancellation: { state: "acknowledged", acknowledgedAt: new Date(endedAt).toISOString(), forced } };
  if (!hasWorked(attempts)) return { executionRecovery: NOT_STARTED, resultJson };
  if (sessionId === null) return { resultJson: { ...resultJson, ...CONTINUE } };
  return {
    executionRecovery: { kind: "interrupted", providerStopped: true, sessionPreserved: true, actionOutcomes: "settled" },
    resultJson,
  };
}
