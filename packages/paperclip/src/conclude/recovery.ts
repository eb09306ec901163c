import type { Evidence, RunOutcome } from "@paperclip-k8s/engine";
import type { ExecutionResult } from "../host/types.ts";
import type { Failure } from "./failure.ts";

/** What the host may do next, as far as we can prove it; nothing here claims more than is known. */
export type Recovery = Pick<ExecutionResult, "errorFamily" | "executionRecovery"> & {
  readonly resultJson: Readonly<Record<string, unknown>>;
};

/** The host's own marker (2026.916): the next turn continues this session. Set only where the session is kept. */
const CONTINUE = { conversationContinuation: "continue_conversation_v1" };
const NOT_STARTED = { kind: "bootstrap", providerWorkStarted: false } as const;

export interface Ended {
  readonly outcome: RunOutcome;
  readonly failure: Failure | null;
  /** The session this run leaves behind; null = none. */
  readonly sessionId: string | null;
  readonly now: number;
}

export function recoveryOf(ended: Ended): Recovery {
  const { outcome, failure, sessionId } = ended;
  if (failure === null) return { resultJson: {} };
  if (outcome.kind === "cancelled") return cancelled(ended);
  if (outcome.kind === "never-started" && outcome.permanent) return { resultJson: {} };
  if (outcome.kind === "never-started" || outcome.kind === "blocked")
    return { errorFamily: "transient_upstream", executionRecovery: NOT_STARTED, resultJson: {} };
  // The Job goes on: whoever comes next takes it over. One that was never made is simply run later.
  if (outcome.kind === "detached")
    return outcome.evidence.jobUid === null
      ? { errorFamily: "transient_upstream", executionRecovery: NOT_STARTED, resultJson: {} }
      : { resultJson: CONTINUE };
  if (sessionId === null) return { resultJson: {} };
  // The cluster took the pod, or the provider was busy: the same session goes on elsewhere, or later.
  const moved = outcome.kind === "killed" && (outcome.by === "eviction" || outcome.by === "preemption");
  if (moved) return { errorFamily: "transient_upstream", resultJson: CONTINUE };
  const later = failure.errorFamily === "transient_upstream" || failure.errorFamily === "provider_quota";
  return { resultJson: later ? CONTINUE : {} };
}

/** Not seen to start is not the same as not started: only a Job that never was, or a container that never ran, proves it. */
function neverRan({ jobUid, container, endRecord, timings, output }: Evidence): boolean {
  if (jobUid === null) return true;
  const idle = container === null || container.kind === "waiting";
  return idle && endRecord === null && timings.started === null && output.problem === null;
}

/** An acknowledged cancel with its session kept leaves the issue free for the next wake. */
function cancelled({ outcome, sessionId, now }: Ended): Recovery {
  if (outcome.kind !== "cancelled" || !outcome.stopped) return { resultJson: {} };
  const forced = outcome.evidence.endRecord?.signal === "SIGKILL";
  const resultJson = { executionCancellation: { state: "acknowledged", acknowledgedAt: new Date(now).toISOString(), forced } };
  if (neverRan(outcome.evidence)) return { executionRecovery: NOT_STARTED, resultJson };
  if (sessionId === null) return { resultJson };
  return {
    executionRecovery: { kind: "interrupted", providerStopped: true, sessionPreserved: true, actionOutcomes: "settled" },
    resultJson,
  };
}
