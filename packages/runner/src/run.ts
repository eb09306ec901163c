// One run, from the spec to the container's exit code.
import { hostname } from "node:os";
import { type CgroupFigures, figuresSince, findCgroup, readCgroup } from "./cli/cgroup.ts";
import { exitCodeOf } from "./cli/exit-code.ts";
import { type CliResult, drainTime, followCli, neverRan } from "./cli/follow-cli.ts";
import { cliEnv } from "./cli/start-cli.ts";
import { StopRequest } from "./cli/stop-request.ts";
import { type Order, readOrder } from "./read-spec.ts";
import { type CliEnd, type EndCause, RUNNER_EXIT } from "./records.ts";
import { type RelayedRun, relayRun } from "./relay/relay-run.ts";
import { takeSeeds } from "./seed/take-seeds.ts";
import { StateKeeper } from "./state/keep-state.ts";
import { saveTimeLeft } from "./state/save-time.ts";
import { writeTerminationMessage } from "./termination-message.ts";
import { notWritable } from "./writer/check-writable.ts";
import { LogCopy } from "./writer/log-copy.ts";
import { WriterLink } from "./writer/writer-link.ts";

export interface Invocation {
  readonly runnerFile: string;
  readonly terminationLog: string | undefined;
  readonly guard: Guard;
}

/** Filled in as it becomes known: what is left to do and to say if the runner itself fails. */
export interface Guard {
  group: number | null;
  run: string;
  nonce: string;
}

const UNREAD = { oomKills: null, peakMemoryBytes: null, memoryLimitBytes: null } as const;

/** What is said of a CLI that did not get to run. */
export function notRun(cause: EndCause, error: string): CliEnd {
  return { exitCode: null, signal: null, cause, bytes: 0, written: 0, lines: 0, ...UNREAD, error };
}

export async function run(invocation: Invocation): Promise<number> {
  const { runnerFile, terminationLog } = invocation;
  const stop = new StopRequest();
  const stderrCopy = new LogCopy(process.stderr);
  const refuse = async (code: number, text: string, ids = { run: "", nonce: "" }): Promise<number> => {
    writeTerminationMessage(terminationLog, { format: 1, ...ids, ...notRun("spawn-failed", text), finalLine: null });
    stderrCopy.write(Buffer.from(`runner: ${text}\n`));
    await stderrCopy.drained(500);
    return code;
  };
  let order: Order;
  try {
    order = readOrder(runnerFile);
  } catch (error) {
    return refuse(RUNNER_EXIT.badSpec, error instanceof Error ? error.message : "the spec cannot be read");
  }
  const { spec, waits } = order;
  const ids = { run: spec.run, nonce: spec.nonce };
  Object.assign(invocation.guard, ids);
  const pod = process.env.HOSTNAME || hostname();
  const link = new WriterLink(runnerFile, { ...ids, pod, files: spec.files }, waits.stallMs);
  const relaying = relayRun(order, (text) => note(link, text));
  const keeper = spec.state ? new StateKeeper({ runnerFile, run: spec.run, spec: spec.state, env: cliEnv(process.env, spec.env) }) : null;
  const seeding = spec.seed ? takeSeeds(runnerFile, spec.seed, () => stop.asked) : null;
  const answer = await link.opened(waits.openMs);
  if (answer.kind === "refused" || answer.kind === "failed") keeper?.halt();
  if (answer.kind === "refused") return refuse(RUNNER_EXIT.alreadyClaimed, "another pod has already claimed this run", ids);
  if (answer.kind === "failed") return refuse(RUNNER_EXIT.noOutput, answer.error, ids);
  link.meta({ type: "start", at: new Date().toISOString(), ...ids, pod, runtime: runtimeName() });
  if (answer.kind === "silent") note(link, `the volume gave no answer for ${waits.openMs / 1000} s; the CLI was started without it`);
  if (keeper) keeper.meta = (record) => link.meta(record);
  for (const text of (await seeding) ?? []) note(link, text);
  return follow(invocation, { ...(await relaying), keeper }, link, stop, stderrCopy);
}

interface PreparedRun extends RelayedRun {
  /** null when the spec names no state. */
  readonly keeper: StateKeeper | null;
}

async function follow(
  invocation: Invocation,
  prepared: PreparedRun,
  link: WriterLink,
  stop: StopRequest,
  stderrCopy: LogCopy,
): Promise<number> {
  const { order, keeper } = prepared;
  const cgroup = findCgroup();
  const before = readCgroup(cgroup);
  const stdoutCopy = new LogCopy(process.stdout);
  let refused = false;
  // The claim was open when the CLI started; now that it is known to be another's, this CLI must not go on.
  link.onRefused = () => {
    refused = true;
    stop.ask();
  };
  const onGroup = (group: number): void => {
    invocation.guard.group = group;
    keeper?.watch();
  };
  const noState = (await keeper?.restored(() => stop.asked)) ?? null;
  const locked = notWritable(order.spec.writable);
  const started = { order, link, stop, stdoutCopy, stderrCopy, onGroup };
  const result =
    noState !== null
      ? neverRan("spawn-failed", RUNNER_EXIT.noState, noState)
      : locked !== null
        ? neverRan("spawn-failed", RUNNER_EXIT.notWritable, locked)
        : await followCli(started);
  for (const text of prepared.close()) note(link, text);
  if (result.error) stderrCopy.write(Buffer.from(`runner: ${result.error}\n`));
  // A pod that lost its claim, or whose CLI never ran, has no state of its own.
  const hasState = invocation.guard.group !== null && !refused;
  if (!hasState) keeper?.halt();
  const saving = hasState ? keeper?.save(saveTimeLeft(order, stop, result.overAt)) : null;
  let deadline = result.overAt + drainTime(order);
  const left = (): number => Math.max(0, deadline - performance.now());
  noteLosses(link, stdoutCopy.skipped, result.stderrDropped);
  const settled = await link.flush(left() * 0.8);
  if (!settled) link.giveUp(`the volume did not take the output within ${order.spec.drainSec} s of the CLI's end`);
  await saving;
  if (keeper) deadline = Math.max(deadline, performance.now() + drainTime(order) * 0.2);
  const figures = figuresSince(before, readCgroup(cgroup));
  const end = cliEnd(result, link, figures, keeper);
  // Without an answer, what the end record would say of the output could turn out wrong.
  if (settled) {
    const { stderrDropped, leftoversEnded } = result;
    link.meta({ type: "end", at: new Date().toISOString(), ...end, stderrDropped, leftoversEnded, cpuMs: figures.cpuMs });
    await link.finish(left());
  }
  link.kill();
  const error = end.error ?? link.metaError;
  const { run, nonce } = order.spec;
  writeTerminationMessage(invocation.terminationLog, { format: 1, run, nonce, ...end, error, finalLine: result.finalLine });
  await Promise.all([stdoutCopy, stderrCopy].map((copy) => copy.drained(Math.min(2_000, left()))));
  return refused ? RUNNER_EXIT.alreadyClaimed : exitCodeOf(result.exitCode, result.signal);
}

function noteLosses(link: WriterLink, notCopied: number, stderrDropped: number): void {
  if (notCopied > 0) note(link, `${notCopied} bytes of output were not copied to the container's log`);
  if (stderrDropped > 0) note(link, `${stderrDropped} bytes of stderr are not in this file`);
}

function cliEnd(result: CliResult, link: WriterLink, figures: CgroupFigures, keeper: StateKeeper | null): CliEnd {
  const { exitCode, signal, cause, bytes, lines } = result;
  const { oomKills, peakMemoryBytes, memoryLimitBytes } = figures;
  const written = link.flushed;
  // A volume that hung and came back in time has cost nothing.
  const error = result.error ?? (written < bytes ? link.error : null);
  const end = { exitCode, signal, cause, bytes, written, lines, oomKills, peakMemoryBytes, memoryLimitBytes, error };
  return keeper ? { ...end, state: keeper.end() } : end;
}

function note(link: WriterLink, text: string): void {
  link.meta({ type: "note", at: new Date().toISOString(), text });
}

const runtimeName = (): string => (process.versions.bun ? `bun ${process.versions.bun}` : `node ${process.versions.node}`);
