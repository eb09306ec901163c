import type { RunOutcome } from "@paperclip-k8s/engine";
import { workspaceOf } from "./environment/workspace.ts";
import { type Ending, effectiveExit, failureOf } from "./failure.ts";
import type { ExecutionResult } from "./host.ts";
import { recoveryOf } from "./recovery.ts";
import { sessionParamsOut } from "./session.ts";
import type { Turn } from "./turn.ts";

const SUMMARY_CHARS = 4000;

/** The host's result of a run: what happened, what it cost, which session it leaves. */
export function buildResult(turn: Turn, ending: Ending): ExecutionResult {
  const { outcome, report } = ending;
  const failure = failureOf(ending);
  // Where nothing is kept, a session goes with its pod.
  const sessionId = failure?.clearSession || turn.stateDir === null ? null : (report.sessionId ?? turn.sessionId);
  const recovery = recoveryOf({ outcome, failure, sessionId, now: ending.now });
  const model = report.model ?? turn.config.model;
  const provider = model?.includes("/") ? (model.split("/")[0] ?? null) : null;
  return {
    exitCode: exitCode(ending, failure !== null),
    signal: outcome.kind === "exited" ? outcome.signal : null,
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
      podCwd: turn.cwd,
      workspace: workspaceOf(turn.ctx.context, turn.config.cwd),
    }),
    sessionDisplayId: sessionId,
    model,
    provider,
    biller: turn.cli.billerOf(turn.env.secret) ?? provider ?? "unknown",
    billingType: "unknown",
    summary: report.text === "" ? null : report.text.slice(-SUMMARY_CHARS),
    resultJson: { ...resultJson(outcome), ...recovery.resultJson },
  };
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
    timings: evidence.timings,
    peakMemoryBytes: evidence.endRecord?.peakMemoryBytes ?? null,
  };
}
