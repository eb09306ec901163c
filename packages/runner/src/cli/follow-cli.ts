// From the CLI's start to the last byte of its output: passes output on, keeps limits, ends what the CLI leaves running.
import { longTimer } from "../limits.ts";
import type { RunnerConfig } from "../read-spec.ts";
import type { EndCause } from "../records.ts";
import { CliOutput, type OutputEnd, type OutputTargets } from "./cli-output.ts";
import { CliEnder } from "./end-cli.ts";
import { LineScan } from "./line-scan.ts";
import { startCli } from "./start-cli.ts";
import type { StopRequest } from "./stop-request.ts";

export interface CliResult extends OutputEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly cause: EndCause;
  readonly error: string | null;
  /** How many processes outlived the CLI and were ended. */
  readonly leftoversEnded: number;
  /** `performance.now()` when the CLI was over. */
  readonly overAt: number;
}

export interface Followed extends OutputTargets {
  readonly env: NodeJS.ProcessEnv;
  readonly stop: StopRequest;
  /** Called with the CLI's process group as soon as there is one. */
  readonly onGroup: (group: number) => void;
}

const NOTHING = { bytes: 0, cut: 0, lines: 0, finalLine: null, stderrDropped: 0, leftoversEnded: 0, late: { bytes: 0, text: "" } } as const;

export function neverRan(cause: EndCause, exitCode: number | null, error: string): CliResult {
  return { ...NOTHING, exitCode, signal: exitCode === null ? "SIGTERM" : null, cause, error, overAt: performance.now() };
}

export async function followCli(run: Followed): Promise<CliResult> {
  const { config, link, stop } = run;
  if (!stop.asked) await link.claimStart(config.waits.openMs);
  if (stop.asked) return neverRan("stopped", null, "stopped before the CLI was started");
  const cli = await startCli(config, run.env);
  if (!("pid" in cli)) return neverRan("spawn-failed", cli.exitCode, cli.error);
  run.onGroup(cli.pid);
  const ender = new CliEnder(cli.pid, cli.exited);
  const limits = keepLimits(config, ender, stop);
  const events = { seen: limits.onFinalLine, takenBackBy: config.takenBackBy, takenBack: limits.onTakenBack };
  const output = new CliOutput(run, cli, new LineScan(config.finalLine, events), limits.onOutputLimit);
  link.meta({ type: "cli-started", at: new Date().toISOString(), pid: cli.pid });

  const exit = await cli.exited;
  const overAt = performance.now();
  limits.stop();
  const leftoversEnded = await output.readToEnd(overAt, stop);
  const end = output.end();
  // A CLI may be over before it can be ended for its output, of which a part is missing all the same.
  const cause = ender.cause ?? (end.cut > 0 ? "output-limit" : "exit");
  const error = end.cut > 0 ? `it wrote more than ${config.spec.outputBytes} bytes of output; the rest was not kept` : null;
  return { ...exit, ...end, cause, error, leftoversEnded, overAt };
}

/** The limits of time and output, a stop from outside, and the grace after a final line. */
function keepLimits(config: RunnerConfig, ender: CliEnder, stop: StopRequest) {
  const { timeoutSec, graceSec, stopGraceSec, finalLine } = config.spec;
  const none = (): void => {};
  const stopTimeout = timeoutSec > 0 ? longTimer(timeoutSec * 1000, () => ender.end("timeout", graceSec * 1000)) : none;
  let stopFinal = none;
  let over = false;
  stop.onAsked(() => ender.end("stopped", stopGraceSec * 1000));
  return {
    // A later final line starts the wait anew: the CLI is evidently still at work.
    onFinalLine: () => {
      stopFinal();
      const seconds = finalLine?.endAfterSec ?? null;
      if (seconds !== null && !over) stopFinal = longTimer(seconds * 1000, () => ender.end("final-line", graceSec * 1000));
    },
    onOutputLimit: () => ender.end("output-limit", graceSec * 1000),
    onTakenBack: () => stopFinal(),
    stop: () => {
      over = true;
      stopTimeout();
      stopFinal();
    },
  };
}
