import { ApiError, messageOf, OwnPodError, PathPartError, RequestError } from "@paperclip-k8s/engine";
import type { RunIssue } from "../host/issue.ts";
import { UnusableVolume } from "../host/unusable-volume.ts";
import { HostTrouble } from "../observe/cancel.ts";
import { cleanText } from "../observe/clean-text.ts";
import { UnseenJob } from "../prepare/job-place.ts";
import { ConfigError } from "../settings/config-error.ts";
import { type AttemptResult, mayHaveStartedWork, sumOf } from "./attempts.ts";
import { type Conclusion, withoutNames } from "./result.ts";
import { notPreparedSummary } from "./summary.ts";
import { NEEDS_A_PERSON, wayOutUnprepared } from "./way-out.ts";

/** What kept an attempt from being prepared. `passes`: it may be gone at the next try. */
interface Cause {
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly passes: boolean;
}

const FIXABLE = [ConfigError, PathPartError, RequestError, OwnPodError];

/** A run whose next attempt could not be prepared. What somebody has to fix differs from what may pass by itself. */
export function notPrepared(error: unknown, issue: RunIssue, earlier: readonly AttemptResult[] = []): Conclusion {
  const cause = causeOf(error);
  const { errorMessage } = cause;
  const isOnForm = error instanceof ConfigError && error.isOnForm;
  const cost = sumOf(earlier);
  const { way, ...fields } = wayOutUnprepared(cause, issue.isLastRetry, earlier.some(mayHaveStartedWork));
  const result = {
    exitCode: null,
    signal: null,
    timedOut: false,
    errorMessage,
    ...(cost === null ? {} : { ...cost, usageBasis: "per_run" as const }),
    ...fields,
    summary: notPreparedSummary(errorMessage, isOnForm, way, issue),
    resultJson: { outcome: "not-prepared", ...fields.resultJson },
  };
  // The Job of an earlier run, which this one continues, may be at work: it was not looked for, or could not be.
  return withoutNames({ result, way, ifCancelled: null });
}

function causeOf(error: unknown): Cause {
  const errorMessage = cleanText(messageOf(error));
  if (FIXABLE.some((kind) => error instanceof kind))
    return { errorCode: isAgentId(error) ? "k8s_agent_id_invalid" : NEEDS_A_PERSON, errorMessage, passes: false };
  if (error instanceof UnusableVolume) return { errorCode: "k8s_volume_unusable", errorMessage, passes: true };
  if (error instanceof UnseenJob) return { errorCode: "k8s_concurrency_guard_unreachable", errorMessage, passes: true };
  if (!(error instanceof ApiError)) return { errorCode: "adapter_failed", errorMessage, passes: error instanceof HostTrouble };
  if (error.code === "api_config") return { errorCode: NEEDS_A_PERSON, errorMessage: `Kubeconfig: ${errorMessage}`, passes: false };
  return { errorCode: "k8s_job_create_failed", errorMessage, passes: true };
}

const isAgentId = (error: unknown): boolean => error instanceof Error && "field" in error && error.field === "agent.id";
