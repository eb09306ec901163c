import type { RunOutcome } from "@paperclip-k8s/engine";
import { issueOf } from "../host/issue.ts";
import type { ExecutionResult } from "../host/types.ts";
import { cleanValue } from "../observe/clean-text.ts";
import { withoutUserNames } from "../observe/home-paths.ts";
import { environmentOf } from "../prepare/attempt.ts";
import { incomingSession } from "../prepare/session.ts";
import { type AttemptResult, type Attempts, costOf, isLeftToOthers } from "./attempts.ts";
import { exitOf } from "./exit.ts";
import { failureOf } from "./failure.ts";
import { NO_SESSION, sessionLeft } from "./session.ts";
import { summaryOf } from "./summary.ts";
import { type Acknowledged, cancelled, type Way, wayOut } from "./way-out.ts";

const SUMMARY_CHARS = 4000;

/** A run's result, and who goes on after it; null = nobody has to. */
export interface Conclusion {
  readonly result: ExecutionResult;
  readonly way: Way | null;
  /** What the result says besides, if the host cancels the run after its end and before it has the result; null = its end is not proved. */
  readonly ifCancelled: Acknowledged | null;
}

/** The result of a run that was cancelled when it had ended by itself: without an acknowledgement the host holds the issue. */
export function cancelledAfterwards({ result, ifCancelled }: Conclusion): ExecutionResult {
  return ifCancelled === null ? result : { ...result, ...ifCancelled, resultJson: { ...result.resultJson, ...ifCancelled.resultJson } };
}

/** The host's result of a run: what happened, what all its attempts cost, which session it leaves. Much of it is what a pod said. */
export const conclude = (attempts: Attempts): Conclusion => withoutNames(cleanValue(conclusionOf(attempts)));

/** What people read about a failure; an answer of the model stays as it is. */
export function withoutNames(conclusion: Conclusion): Conclusion {
  const { result } = conclusion;
  const { errorMessage, summary } = result;
  if (!errorMessage) return conclusion;
  return {
    ...conclusion,
    result: { ...result, errorMessage: withoutUserNames(errorMessage), ...(summary ? { summary: withoutUserNames(summary) } : {}) },
  };
}

function conclusionOf(attempts: Attempts): Conclusion {
  const { last } = attempts;
  const { outcome, report } = last;
  const { inputs } = last.attempt;
  const failure = failureOf(last);
  const session = failure?.clearSession ? NO_SESSION : sessionLeft(last);
  const issue = issueOf(inputs.ctx);
  const kept = session.kept === "yes" ? session.sessionId : null;
  const out = failure === null ? null : wayOut(attempts, failure, kept, issue.isLastRetry);
  const { exitCode, signal } = exitOf(last);
  const cost = costOf(attempts);
  const leftToOthers = isLeftToOthers(outcome);
  const isSessionKnown = leftToOthers && last.attempt.sessionId !== null && last.attempt.sessionId === incomingSession(inputs.ctx);
  const model = report.model ?? inputs.config.model;
  const billing = inputs.cli.billing(environmentOf(inputs), model);
  const { way = null, resultJson: evidence = {}, ...fields } = out ?? {};
  const result = {
    // A failure never looks like exit code 0.
    exitCode: failure !== null && exitCode === 0 ? 1 : exitCode,
    signal,
    timedOut: failure?.errorCode === "timeout",
    ...(failure === null ? {} : { errorMessage: failure.errorMessage, ...(failure.clearSession ? { clearSession: true } : {}) }),
    ...fields,
    ...(cost === null ? {} : { ...cost, usageBasis: "per_run" as const }),
    // The host keeps the session that the run began with.
    ...(isSessionKnown ? {} : { sessionId: session.sessionId, sessionParams: session.params, sessionDisplayId: session.sessionId }),
    model: modelName(model, billing.provider),
    provider: billing.provider,
    biller: billing.biller,
    billingType: billing.type,
    // What is left to others says nothing yet: the run that takes the Job over does.
    ...(leftToOthers
      ? {}
      : { summary: failure === null || way === null ? answerOf(last) : summaryOf({ ...last, outcome }, failure, way, issue) }),
    resultJson: { ...report.details, ...resultJson(outcome), ...evidence },
  };
  return { result, way, ifCancelled: mayAcknowledge(outcome, way) ? cancelled(attempts, kept) : null };
}

/** Whether the agent's end is proved. What a cancel itself came to is in the result already. */
const mayAcknowledge = (outcome: RunOutcome, way: Way | null): boolean =>
  outcome.evidence.proof !== "none" && outcome.kind !== "cancelled" && way !== "held" && !isLeftToOthers(outcome);

/** The host shows `provider/model`: a model that has its provider's name in front would have it twice. */
function modelName(model: string | null, provider: string | null): string | null {
  return model !== null && provider !== null && model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model;
}

const answerOf = ({ report }: AttemptResult): string | null => (report.text === "" ? null : report.text.slice(-SUMMARY_CHARS));

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
