import type { RunOutcome } from "@paperclip-k8s/engine";
import type { ExecutionResult } from "../host/types.ts";
import { environmentOf, groundOf, type Turn } from "../prepare/attempt.ts";
import { workspaceOf } from "../prepare/environment/workspace.ts";
import { type KeptSession, keptSession } from "../prepare/saved-session.ts";
import { type SessionGround, sessionParamsOut } from "../prepare/session.ts";
import { type Ending, effectiveExit, failureOf } from "./failure.ts";
import { recoveryOf } from "./recovery.ts";

const SUMMARY_CHARS = 4000;

/** The host's result of a run: what happened, what it cost, which session it leaves. `ground`: of a Job that was taken over, null = not known. */
export function buildResult(turn: Turn, ending: Ending, ground: SessionGround | null = groundOf(turn)): ExecutionResult {
  const { outcome, report } = ending;
  const failure = failureOf(ending);
  const session = failure?.clearSession ? NO_SESSION : sessionLeft(turn, ending, ground);
  const { sessionId } = session;
  const recovery = recoveryOf({ outcome, failure, sessionId: session.kept === "yes" ? sessionId : null, now: ending.now });
  const model = report.model ?? turn.config.model;
  const billing = turn.cli.billing(environmentOf(turn), model);
  return {
    exitCode: exitCode(ending, failure !== null),
    signal: outcome.kind === "exited" && !report.succeeded ? outcome.signal : null,
    timedOut: outcome.kind === "timed-out",
    ...(failure ?? {}),
    ...(recovery.errorFamily === undefined ? {} : { errorFamily: recovery.errorFamily }),
    ...(recovery.executionRecovery === undefined ? {} : { executionRecovery: recovery.executionRecovery }),
    usage: { inputTokens: report.inputTokens, cachedInputTokens: report.cachedInputTokens, outputTokens: report.outputTokens },
    usageBasis: "per_run",
    costUsd: report.costUsd,
    sessionId,
    sessionParams: session.params,
    sessionDisplayId: sessionId,
    model,
    provider: billing.provider,
    biller: billing.biller,
    billingType: billing.type,
    summary: report.text === "" ? null : report.text.slice(-SUMMARY_CHARS),
    resultJson: { ...report.details, ...resultJson(outcome), ...recovery.resultJson },
  };
}

interface SessionLeft {
  readonly kept: KeptSession;
  readonly sessionId: string | null;
  readonly params: Record<string, unknown> | null;
}

const NO_SESSION: SessionLeft = { kept: "no", sessionId: null, params: null };

/** The session that the next run of this task is given. */
function sessionLeft(turn: Turn, { report, outcome }: Ending, ground: SessionGround | null): SessionLeft {
  const { ctx, cwd, config } = turn;
  const reported = report.sessionId ?? turn.sessionId;
  const resumed = reported !== null && reported === turn.sessionId;
  const kept = keptSession({ mode: ground?.stateMode ?? null, state: outcome.evidence.state, resumed });
  const workspace = workspaceOf(ctx.context, config.cwd);
  const sessionId = kept === "no" ? null : reported;
  const params = sessionParamsOut({ sessionId, previous: ctx.runtime.sessionParams, cwd, ground, workspace });
  return { kept, sessionId: params === null ? null : sessionId, params };
}

/** A failure never looks like exit code 0, and a null code always comes with a message. */
function exitCode({ outcome, report }: Ending, failed: boolean): number | null {
  const code = "exitCode" in outcome ? effectiveExit(outcome.exitCode, report) : null;
  return failed && code === 0 ? 1 : code;
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
    // Of a kill the message tells.
    ...(evidence.warnings.length === 0 || outcome.kind === "killed" ? {} : { warnings: evidence.warnings }),
  };
}
