// From the CLI's start to the last byte of its output: passes output on, keeps limits, cleans up behind it.

import type { Order } from "../read-spec.ts";
import type { EndCause } from "../records.ts";
import { holdOutput } from "../writer/hold-output.ts";
import type { LogCopy } from "../writer/log-copy.ts";
import type { WriterLink } from "../writer/writer-link.ts";
import { CliEnder } from "./end-cli.ts";
import { endLeftovers } from "./end-leftovers.ts";
import { LineScan } from "./line-scan.ts";
import { longTimer } from "./long-timer.ts";
import { type Cli, startCli } from "./start-cli.ts";
import { StderrPieces } from "./stderr-pieces.ts";
import type { StopRequest } from "./stop-request.ts";
import { sleep } from "./waits.ts";

export interface CliResult {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly cause: EndCause;
  readonly error: string | null;
  readonly bytes: number;
  readonly lines: number;
  readonly finalLine: string | null;
  readonly stderrDropped: number;
  readonly leftoversEnded: boolean;
  /** `performance.now()` when the CLI was over. */
  readonly overAt: number;
}

export interface Followed {
  readonly order: Order;
  readonly link: WriterLink;
  readonly stop: StopRequest;
  readonly stdoutCopy: LogCopy;
  readonly stderrCopy: LogCopy;
  /** Called with the CLI's process group as soon as there is one. */
  readonly onGroup: (group: number) => void;
}

const NOTHING = { bytes: 0, lines: 0, finalLine: null, stderrDropped: 0, leftoversEnded: false } as const;

export function neverRan(cause: EndCause, exitCode: number | null, error: string): CliResult {
  return { ...NOTHING, exitCode, signal: exitCode === null ? "SIGTERM" : null, cause, error, overAt: performance.now() };
}

export async function followCli(run: Followed): Promise<CliResult> {
  const { order, link, stop } = run;
  if (stop.asked) return neverRan("stopped", null, "stopped before the CLI was started");
  const cli = await startCli(order);
  if (!("pid" in cli)) return neverRan("spawn-failed", cli.exitCode, cli.error);
  run.onGroup(cli.pid);
  const ender = new CliEnder(cli.pid, cli.exited);
  const disarm = keepLimits(order, ender, stop);
  const scan = new LineScan(order.pattern, { seen: disarm.onFinalLine, takenBackBy: order.takenBackBy, takenBack: disarm.onTakenBack });
  const stderr = new StderrPieces();
  link.meta({ type: "cli-started", at: new Date().toISOString(), pid: cli.pid });
  passOn(run, cli, scan, stderr);

  const exit = await cli.exited;
  const overAt = performance.now();
  disarm.all();
  const leftoversEnded = await readToEnd(run, cli, overAt);
  scan.end();
  for (const text of stderr.end()) link.meta({ type: "stderr", at: new Date().toISOString(), text });
  const { bytes, lines, finalLine } = scan;
  const counted = { bytes, lines, finalLine, stderrDropped: stderr.dropped };
  return { ...exit, ...counted, cause: ender.cause ?? "exit", error: null, leftoversEnded, overAt };
}

interface Limits {
  readonly onFinalLine: () => void;
  readonly onTakenBack: () => void;
  readonly all: () => void;
}

/** The time limit, a stop from outside, and the grace after a final line. */
function keepLimits(order: Order, ender: CliEnder, stop: StopRequest): Limits {
  const { timeoutSec, graceSec, stopGraceSec, finalLine } = order.spec;
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
    onTakenBack: () => stopFinal(),
    all: () => {
      over = true;
      stopTimeout();
      stopFinal();
    },
  };
}

function passOn(run: Followed, cli: Cli, scan: LineScan, stderr: StderrPieces): void {
  const { link } = run;
  cli.stdout.on("data", (chunk: Buffer) => {
    scan.feed(chunk);
    link.output(chunk);
    run.stdoutCopy.write(chunk);
  });
  cli.stderr.on("data", (chunk: Buffer) => {
    for (const text of stderr.feed(chunk)) link.meta({ type: "stderr", at: new Date().toISOString(), text });
    run.stderrCopy.write(chunk);
  });
  const hold = (): void => holdOutput(cli.stdout, cli.pid, link.backlog.full || run.stdoutCopy.backlog.full);
  link.backlog.onFull = hold;
  run.stdoutCopy.backlog.onFull = hold;
  run.stderrCopy.backlog.onFull = (full) => holdOutput(cli.stderr, cli.pid, full);
}

/** Reads what is still in the pipes; what holds them open after the CLI's end is given a moment, then ended. */
async function readToEnd(run: Followed, cli: Cli, overAt: number): Promise<boolean> {
  const { link, order } = run;
  const drainMs = drainTime(order);
  const giveUpAt = overAt + drainMs / 2;
  const within = (ms: number): Promise<unknown> => Promise.race([cli.drained, sleep(ms)]);
  let drained = false;
  void cli.drained.then(() => {
    drained = true;
  });
  await within(Math.min(order.waits.leftoverMs, drainMs / 4));
  const copies = [run.stdoutCopy, run.stderrCopy];
  const held = (): boolean => link.backlog.full || copies.some((copy) => copy.backlog.full);
  // A slow volume or log is no leftover: as long as it holds up the reading, the wait for the end goes on.
  while (!drained && held() && performance.now() < giveUpAt) await within(20);
  for (const copy of copies) copy.giveUp();
  if (!drained && link.backlog.full) link.giveUp(`the volume did not take the output within ${order.spec.drainSec} s of the CLI's end`);
  const leftoversEnded = await endLeftovers(cli.pid, Math.min(order.waits.leftoverKillMs, drainMs / 4));
  if (!drained) await within(250);
  cli.abandon();
  return leftoversEnded;
}

/** A volume gets at least a moment, whatever the spec says. */
export const drainTime = (order: Order): number => Math.max(order.spec.drainSec * 1000, 200);
