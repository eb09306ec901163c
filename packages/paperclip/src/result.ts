import type { RunOutcome } from "@paperclip-k8s/engine";
import { workspaceOf } from "./environment/workspace.ts";
import { type Ending, effectiveExit, failureOf } from "./failure.ts";
import type { ExecutionResult } from "./host.ts";
import { recoveryOf } from "./recovery.ts";
import { sessionParamsOut } from "./session.ts";
import { environmentOf, groundOf, type Turn } from "./turn.ts";

const SUMMARY_CHARS = 4000;

/** The host's result of a run: what happened, what it cost, which session it leaves. */
export function buildResult(turn: Turn, ending: Ending): ExecutionResult {
  const { outcome, report } = ending;
  const failure = failureOf(ending);
  const kept = keptSession(turn, outcome);
  const sessionId = failure?.clearSession || kept === "no" ? null : (report.sessionId ?? turn.sessionId);
  const recovery = recoveryOf({ outcome, failure, sessionId: kept === "yes" ? sessionId : null, now: ending.now });
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
    sessionParams: sessionParamsOut({
      sessionId,
      previous: turn.ctx.runtime.sessionParams,
      cwd: turn.cwd,
      ground: groundOf(turn),
      workspace: workspaceOf(turn.ctx.context, turn.config.cwd),
    }),
    sessionDisplayId: sessionId,
    model,
    provider: billing.provider,
    biller: billing.biller,
    billingType: billing.type,
    summary: report.text === "" ? null : report.text.slice(-SUMMARY_CHARS),
    resultJson: { ...report.details, ...resultJson(outcome), ...recovery.resultJson },
  };
}

/** Is there anything that the next run can resume? Of a first turn that was killed hard nobody knows: a save may have been under way. */
function keptSession({ state }: Turn, { evidence }: RunOutcome): "yes" | "no" | "maybe" {
  if (state.mode === "ephemeral") return "no";
  if (evidence.state === null || evidence.state.last !== null) return "yes";
  return evidence.state.saveMs === null ? "maybe" : "no";
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
