import type { Adoption, Evidence, RunOutcome } from "@paperclip-k8s/engine";
import type { AgentCli, CliParser, CliReport } from "../agent-cli/agent-cli.ts";
import type { CliFault, FaultKind } from "../agent-cli/fault.ts";
import { countOf } from "../agent-cli/json-fields.ts";
import type { ExecutionResult, UsageSummary } from "../host/types.ts";
import type { Attempt } from "../prepare/attempt.ts";

/** How one attempt ended, and all that is known about it. */
export interface AttemptResult {
  readonly attempt: Attempt;
  readonly outcome: RunOutcome;
  /** What the CLI's output says. */
  readonly report: CliReport;
  /** What the CLI itself says is wrong; null = nothing. */
  readonly fault: CliFault | null;
  /** The end of the CLI's stderr. */
  readonly stderr: string;
  /** The Job of another run that the attempt took over; null = it had its own. */
  readonly adopted: Adoption | null;
  readonly endedAt: number;
}

/** What the CLI said. Nothing is taken from an output that others have written to: neither a session nor a cost. */
export function reported(
  cli: Pick<AgentCli, "createParser">,
  { parser, stderrTail: stderr }: { readonly parser: CliParser; readonly stderrTail: string },
  { evidence }: Pick<RunOutcome, "evidence">,
): Pick<AttemptResult, "report" | "fault" | "stderr"> {
  if (evidence.output.forged) return { report: cli.createParser().report(), fault: null, stderr };
  return { report: parser.report(), fault: parser.fault(stderr), stderr };
}

/** All attempts of one run: its result is built from every one of them. */
export interface Attempts {
  readonly earlier: readonly AttemptResult[];
  readonly last: AttemptResult;
}

/** The Job goes on, and another run reports its end and its usage. */
export type LeftToOthers = Extract<RunOutcome, { kind: "detached" | "superseded" }>;
export const isLeftToOthers = (outcome: RunOutcome): outcome is LeftToOthers =>
  outcome.kind === "detached" || outcome.kind === "superseded";

type Cost = Required<Pick<ExecutionResult, "usage" | "costUsd">>;

/** What this run reports as used; null = every attempt's usage is reported by another run. */
export function costOf(attempts: Attempts): Cost | null {
  return sumOf(isLeftToOthers(attempts.last.outcome) ? attempts.earlier : [...attempts.earlier, attempts.last]);
}

/** Null = there is nothing to add up. */
export function sumOf(counted: readonly AttemptResult[]): Cost | null {
  if (counted.length === 0) return null;
  const sum = (key: keyof UsageSummary) => counted.reduce((total, { report }) => total + Math.round(countOf(report[key])), 0);
  const costs = counted.flatMap(({ report: { costUsd } }) => (costUsd === null ? [] : [countOf(costUsd)]));
  return {
    usage: { inputTokens: sum("inputTokens"), cachedInputTokens: sum("cachedInputTokens"), outputTokens: sum("outputTokens") },
    costUsd: costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0),
  };
}

/** Faults with which a CLI or its provider refuses to begin. */
const REFUSALS: ReadonlySet<FaultKind> = new Set(["unknown-session", "bad-arguments", "auth", "model-not-found", "bad-request"]);

/** Whether an attempt may have made the model work. Only proof of the opposite counts: no CLI ran, or it was refused and nothing came of it. */
export function mayHaveStartedWork({ outcome, report, fault }: AttemptResult): boolean {
  if (outcome.kind === "never-started" || outcome.kind === "blocked" || neverRan(outcome.evidence)) return false;
  const isRefused = outcome.kind === "exited" && fault !== null && (REFUSALS.has(fault.kind) || fault.unknownOption !== undefined);
  return !isRefused || report.inputTokens + report.outputTokens > 0 || report.text !== "" || report.usedTools === true;
}

export const hasWorked = ({ earlier, last }: Attempts): boolean => [...earlier, last].some(mayHaveStartedWork);

/** Whether it is proved that the attempt's container runs no more, or never did. */
export const isStopped = ({ evidence }: Pick<RunOutcome, "evidence">): boolean => evidence.proof !== "none" || neverRan(evidence);

/** A Job that was never created, or a container that never ran. "Not seen to start" proves nothing. */
export function neverRan({ jobUid, container, endRecord, timings, output }: Evidence): boolean {
  if (jobUid === null) return true;
  const idle = container === null || container.kind === "waiting";
  return idle && endRecord === null && timings.started === null && output.problem === null;
}
