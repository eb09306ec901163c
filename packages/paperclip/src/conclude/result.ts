import { ApiError, messageOf, OwnPodError, PathPartError, RequestError, type RunOutcome } from "@paperclip-k8s/engine";
import type { ExecutionResult } from "../host/types.ts";
import { UnusableVolume } from "../host/unusable-volume.ts";
import { cleanText, cleanValue } from "../observe/clean-text.ts";
import { environmentOf } from "../prepare/attempt.ts";
import { incomingSession } from "../prepare/session.ts";
import { ConfigError } from "../settings/config-error.ts";
import { type AttemptResult, type Attempts, costOf, isLeftToOthers, mayHaveStartedWork, sumOf } from "./attempts.ts";
import { exitOf } from "./exit.ts";
import { failureOf } from "./failure.ts";
import { NOT_STARTED, recoveryOf } from "./recovery.ts";
import { NO_SESSION, sessionLeft } from "./session.ts";

const SUMMARY_CHARS = 4000;

/** The host's result of a run: what happened, what all its attempts cost, which session it leaves. Much of it is what a pod said. */
export const buildResult = (attempts: Attempts): ExecutionResult => cleanValue(resultOf(attempts));

function resultOf(attempts: Attempts): ExecutionResult {
  const { last } = attempts;
  const { outcome, report } = last;
  const { inputs } = last.attempt;
  const failure = failureOf(last);
  const session = failure?.clearSession ? NO_SESSION : sessionLeft(last);
  const recovery = recoveryOf(attempts, failure, session.kept === "yes" ? session.sessionId : null);
  const { exitCode, signal } = exitOf(last);
  const cost = costOf(attempts);
  const leftToOthers = isLeftToOthers(attempts);
  const isSessionKnown = leftToOthers && last.attempt.sessionId !== null && last.attempt.sessionId === incomingSession(inputs.ctx);
  const model = report.model ?? inputs.config.model;
  const billing = inputs.cli.billing(environmentOf(inputs), model);
  return {
    // A failure never looks like exit code 0.
    exitCode: failure !== null && exitCode === 0 ? 1 : exitCode,
    signal,
    timedOut: outcome.kind === "timed-out",
    ...failure,
    ...(recovery.errorFamily === undefined ? {} : { errorFamily: recovery.errorFamily }),
    ...(recovery.executionRecovery === undefined ? {} : { executionRecovery: recovery.executionRecovery }),
    ...(cost === null ? {} : { ...cost, usageBasis: "per_run" as const }),
    // The host keeps the session that the run began with.
    ...(isSessionKnown ? {} : { sessionId: session.sessionId, sessionParams: session.params, sessionDisplayId: session.sessionId }),
    model,
    provider: billing.provider,
    biller: billing.biller,
    billingType: billing.type,
    ...(leftToOthers ? {} : { summary: report.text === "" ? null : report.text.slice(-SUMMARY_CHARS) }),
    resultJson: { ...report.details, ...resultJson(outcome), ...recovery.resultJson },
  };
}

/** Small on purpose: the host drops what matters from a large one. */
function resultJson(outcome: RunOutcome): Record<string, unknown> {
  const { evidence } = outcome;
  return {
    outcome: outcome.kind,
    job: `${evidence.namespace}/${evidence.jobName}`,
    pod: evidence.podName,
    node: evidence.node,
    proof: evidence.proof,
    output: evidence.output,
    ...(evidence.endRecord?.cause === "final-line" || evidence.endRecord?.leftoversEnded ? { leftoversEnded: true } : {}),
    timings: evidence.timings,
    peakMemoryBytes: (evidence.endRecord ?? evidence.termination)?.peakMemoryBytes ?? null,
    ...(evidence.state === null ? {} : { state: evidence.state }),
    memoryLimit: evidence.memory.limit,
    oomKills: evidence.memory.oomKills,
    // The message of a kill contains them.
    ...(evidence.warnings.length === 0 || outcome.kind === "killed" ? {} : { warnings: evidence.warnings }),
  };
}

const FIXABLE = [ConfigError, PathPartError, RequestError, OwnPodError];
const isAgentId = (error: Error): boolean => "field" in error && error.field === "agent.id";

/** The result of a run whose next attempt could not be prepared. What an operator has to fix differs from what may pass by itself. */
export function notPreparedResult(error: unknown, earlier: readonly AttemptResult[] = []): ExecutionResult {
  const errorMessage = cleanText(messageOf(error));
  const cost = sumOf(earlier);
  const used = cost === null ? {} : { ...cost, usageBasis: "per_run" as const };
  const base = { exitCode: null, signal: null, timedOut: false, errorMessage, ...used } as const;
  if (FIXABLE.some((kind) => error instanceof kind) && error instanceof Error)
    return { ...base, errorCode: isAgentId(error) ? "k8s_agent_id_invalid" : "configuration_incomplete" };
  if (error instanceof ApiError && error.code === "api_config")
    return { ...base, errorCode: "configuration_incomplete", errorMessage: `kubeconfig: ${errorMessage}` };
  const errorCode = error instanceof UnusableVolume ? "k8s_volume_unusable" : "k8s_job_create_failed";
  if (!(error instanceof ApiError || error instanceof UnusableVolume)) return { ...base, errorCode: "adapter_failed" };
  const transient = { ...base, errorCode, errorFamily: "transient_upstream" } as const;
  return earlier.some(mayHaveStartedWork) ? transient : { ...transient, executionRecovery: NOT_STARTED };
}
