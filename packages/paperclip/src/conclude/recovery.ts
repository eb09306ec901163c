import type { ExecutionResult } from "../host/types.ts";
import { type Attempts, mayHaveStartedWork } from "./attempts.ts";
import type { Failure } from "./failure.ts";

/** What the host may do next. Nothing here claims more than is proved. */
export type Recovery = Pick<ExecutionResult, "errorFamily" | "executionRecovery"> & {
  readonly resultJson: Readonly<Record<string, unknown>>;
};

/** The host's own marker (2026.916) that the next run continues this session. Set only where the session is kept. */
const CONTINUE = { conversationContinuation: "continue_conversation_v1" };
/** Proof for the host that it may simply run again. */
export const NOT_STARTED = { kind: "bootstrap", providerWorkStarted: false } as const;
const NOTHING: Recovery = { resultJson: {} };

/** `sessionId`: the session that is kept for the next run; null = none. */
export function recoveryOf(attempts: Attempts, failure: Failure | null, sessionId: string | null): Recovery {
  const { outcome } = attempts.last;
  const resultJson = sessionId === null ? {} : CONTINUE;
  if (failure === null) return NOTHING;
  switch (outcome.kind) {
    case "cancelled":
      return outcome.stopped ? cancelled(attempts, sessionId) : NOTHING;
    case "never-started":
      return outcome.permanent ? NOTHING : tryAgain(attempts, sessionId);
    case "blocked":
      return tryAgain(attempts, sessionId);
    case "detached":
      // The next run takes the Job over. Where there is none yet, it simply starts.
      return outcome.evidence.jobUid === null ? tryAgain(attempts, sessionId) : { resultJson: CONTINUE };
    case "killed":
      // The cluster took the pod: the same session goes on in another one.
      if (outcome.by !== "eviction" && outcome.by !== "preemption") return NOTHING;
      return sessionId === null ? NOTHING : { errorFamily: "transient_upstream", resultJson };
    default: {
      const isLater = failure.errorFamily === "transient_upstream" || failure.errorFamily === "provider_quota";
      return isLater ? { resultJson } : NOTHING;
    }
  }
}

/** The last attempt did not start. Earlier ones may have worked: then only their session can be continued. */
function tryAgain(attempts: Attempts, sessionId: string | null): Recovery {
  if (!workStarted(attempts)) return { errorFamily: "transient_upstream", executionRecovery: NOT_STARTED, resultJson: {} };
  return { errorFamily: "transient_upstream", resultJson: sessionId === null ? {} : CONTINUE };
}

const workStarted = ({ earlier, last }: Attempts): boolean => [...earlier, last].some(mayHaveStartedWork);

/** An acknowledged cancel with its session kept leaves the issue free for the next run. */
function cancelled(attempts: Attempts, sessionId: string | null): Recovery {
  const { outcome, endedAt } = attempts.last;
  const forced = outcome.evidence.endRecord?.signal === "SIGKILL";
  const resultJson = { executionCancellation: { state: "acknowledged", acknowledgedAt: new Date(endedAt).toISOString(), forced } };
  if (!workStarted(attempts)) return { executionRecovery: NOT_STARTED, resultJson };
  if (sessionId === null) return { resultJson };
  return {
    executionRecovery: { kind: "interrupted", providerStopped: true, sessionPreserved: true, actionOutcomes: "settled" },
    resultJson,
  };
}
