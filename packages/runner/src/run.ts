// One run, from the spec to the container's exit code.
import { type CgroupFigures, figuresSince, findCgroup, NO_CGROUP, readCgroup } from "./cli/cgroup.ts";
import { withDefaults } from "./cli/cli-defaults.ts";
import { drainEnd, drainTime, notTaken } from "./cli/drain-time.ts";
import { type CliResult, type Followed, followCli, neverRan } from "./cli/follow-cli.ts";
import { notRun } from "./cli/not-run.ts";
import { withPrograms } from "./cli/programs.ts";
import { notWritable, withFolders } from "./cli/start-cli.ts";
import type { StopRequest } from "./cli/stop-request.ts";
import { keepExitSafe } from "./exit-flags.ts";
import type { OpenRun } from "./open-run.ts";
import type { RunnerConfig } from "./read-spec.ts";
import { type CliEnd, RUNNER_EXIT } from "./records.ts";
import { startRelay } from "./relay/start-relay.ts";
import { takeSeeds } from "./seed/seed-home.ts";
import { StateKeeper } from "./state/keep-state.ts";
import { writeTerminationMessage } from "./termination-message.ts";
import { wakeUpCommand } from "./wake-up/command.ts";
import { LogCopy } from "./writer/log-copy.ts";
import { RecordLines } from "./writer/record-lines.ts";
import type { WriterLink } from "./writer/writer-link.ts";

export interface Invocation {
  readonly runnerFile: string;
  readonly terminationLog: string | undefined;
  readonly guard: Guard;
  readonly stop: StopRequest;
  /** The text says why there is no run. */
  readonly opened: OpenRun | string;
}

/** Filled in as it becomes known: what main needs to end the CLI and name the run if the runner itself fails. */
export interface Guard {
  group: number | null;
  run: string;
  nonce: string;
  key: Buffer | null;
}

export async function run(invocation: Invocation): Promise<number> {
  const { runnerFile, terminationLog, stop, opened } = invocation;
  keepExitSafe();
  const stderrCopy = new LogCopy(process.stderr);
  const giveUp = async (code: number, text: string): Promise<number> => {
    const { run, nonce, key } = invocation.guard;
    writeTerminationMessage(terminationLog, { format: 1, run, nonce, ...notRun("spawn-failed", text), finalLine: null }, key);
    stderrCopy.write(Buffer.from(`runner: ${text}\n`));
    await stderrCopy.drained(500);
    return code;
  };
  if (typeof opened === "string") return giveUp(RUNNER_EXIT.badSpec, opened);
  const { config, pod, link } = opened;
  const { spec, waits, key } = config;
  const ids = { run: spec.run, nonce: spec.nonce };
  const env = withFolders({ ...process.env, ...spec.env }, spec.path);
  link.records = new RecordLines(key);
  // Begun together: each takes its time.
  const relaying = config.relay && startRelay(config.relay, env, (text) => note(link, text));
  const keeper = spec.state ? new StateKeeper({ runnerFile, run: spec.run, spec: spec.state, env }) : null;
  const seeding = spec.seed ? takeSeeds(runnerFile, spec.seed, () => stop.asked) : null;
  const answer = await link.opened(waits.openMs);
  if (answer.kind === "taken" || answer.kind === "failed") keeper?.halt();
  if (answer.kind === "taken")
    return giveUp(RUNNER_EXIT.alreadyStarted, "another pod has already started this run, or it was cancelled before");
  if (answer.kind === "failed") return giveUp(RUNNER_EXIT.noOutput, answer.error);
  link.meta({ type: "start", at: new Date().toISOString(), ...ids, pod, runtime: `node ${process.versions.node}` });
  if (answer.kind === "silent") note(link, `the volume gave no answer for ${waits.openMs / 1000} s; the CLI was started without it`);
  if (keeper) keeper.meta = (record) => link.meta(record);
  for (const text of (await seeding) ?? []) note(link, text);
  const relay = await relaying;
  const cliEnv = withPrograms({ ...withDefaults(env, config.defaults), ...relay?.env }, config, (text) => note(link, text));
  const prepared: PreparedRun = { config, link, stop, keeper, stderrCopy, env: cliEnv };
  return follow(invocation, prepared, relay?.close ?? (() => []));
}

interface PreparedRun extends Omit<Followed, "stdoutCopy" | "onGroup"> {
  /** null when the spec names no state. */
  readonly keeper: StateKeeper | null;
}

async function follow(invocation: Invocation, prepared: PreparedRun, closeRelay: () => string[]): Promise<number> {
  const { config, link, stop, keeper, stderrCopy } = prepared;
  let cgroup = NO_CGROUP;
  let before = readCgroup(cgroup);
  const stdoutCopy = new LogCopy(process.stdout);
  // A slow volume shows late that another pod owns the run, while seeds are waited for or after the CLI's start: this CLI must not go on.
  link.onTaken = () => stop.ask();
  link.onForbidden = () => stop.ask();
  if (link.taken) stop.ask();
  link.onFull = sayFull(link, stderrCopy);
  const onGroup = (group: number): void => {
    cgroup = findCgroup();
    before = readCgroup(cgroup);
    invocation.guard.group = group;
    link.startWakeUps(wakeUpCommand(config));
    keeper?.watch();
  };
  const noState = (await keeper?.restored(() => stop.asked)) ?? null;
  const locked = notWritable(config.spec.writable);
  const result =
    noState !== null
      ? neverRan("spawn-failed", RUNNER_EXIT.noState, noState)
      : locked !== null
        ? neverRan("spawn-failed", RUNNER_EXIT.notWritable, locked)
        : await followCli({ ...prepared, stdoutCopy, onGroup });
  for (const text of closeRelay()) note(link, text);
  if (result.error) stderrCopy.write(Buffer.from(`runner: ${result.error}\n`));
  // A pod that does not own the run, or whose CLI never ran, has no state of its own.
  const hasState = invocation.guard.group !== null && !link.taken;
  if (!hasState) keeper?.halt();
  const saving = hasState ? keeper?.save(saveTimeLeft(config, stop, result.overAt)) : null;
  noteRemains(link, result, stdoutCopy.skipped);
  const settled = await link.flush(() => drainEnd(config, stop, result.overAt, 0.8));
  if (!settled) link.giveUp(notTaken(result.overAt));
  await saving;
  const least = performance.now() + drainTime(config) * 0.2;
  const lastAt = () => Math.max(drainEnd(config, stop, result.overAt), least);
  const figures = figuresSince(before, readCgroup(cgroup));
  const end = cliEnd(result, link, figures, keeper);
  // Without an answer the end record could turn out wrong about the output.
  if (settled) {
    const { stderrDropped, leftoversEnded } = result;
    const more = { stderrDropped, leftoversEnded: leftoversEnded > 0, cpuMs: figures.cpuMs };
    link.meta({ type: "end", at: new Date().toISOString(), ...end, ...more });
    await link.finish(lastAt);
  }
  link.kill();
  const error = end.error ?? link.metaError;
  const { run, nonce } = config.spec;
  const message = { format: 1, run, nonce, ...end, error, finalLine: result.finalLine } as const;
  writeTerminationMessage(invocation.terminationLog, message, config.key);
  await Promise.all([stdoutCopy, stderrCopy].map((copy) => copy.drained(Math.min(2_000, Math.max(0, lastAt() - performance.now())))));
  return link.taken ? RUNNER_EXIT.alreadyStarted : await exitCodeOf(result);
}

/** At once in the container's log, and on the volume as soon as that takes it. */
function sayFull(link: WriterLink, stderrCopy: LogCopy): (text: string | null) => void {
  let since = 0;
  return (text) => {
    if (text !== null) since = performance.now();
    const waited = Math.round((performance.now() - since) / 1000);
    const kept = link.error === null ? "nothing of the output is lost" : "a part of the output is lost";
    const said =
      text === null ? `the volume has room again after ${waited} s; ${kept}` : `the volume is full, output waits for room: ${text}`;
    stderrCopy.write(Buffer.from(`runner: ${said}\n`));
    if (text === null) note(link, said);
  };
}

/** Shrinks when the pod is to stop, also in the middle of the save: what the CLI has not used of its grace is the state's. */
function saveTimeLeft(config: RunnerConfig, stop: StopRequest, overAt: number): () => number {
  const { state, stopGraceSec } = config.spec;
  const wanted = overAt + (state?.saveSec ?? 0) * 1000;
  return () => {
    const { askedAt } = stop;
    const forced = askedAt === null ? Number.POSITIVE_INFINITY : Math.max(askedAt + stopGraceSec * 1000, overAt) + drainTime(config) * 0.7;
    return Math.min(wanted, forced) - performance.now();
  };
}

/** What a reader of the run cannot see in its output: bytes that are missing there, and processes the CLI left running. */
function noteRemains(link: WriterLink, { cut, stderrDropped, leftoversEnded, late }: CliResult, notCopied: number): void {
  if (cut > 0) note(link, `${cut} bytes of output beyond its limit were not kept`);
  if (notCopied > 0) note(link, `${notCopied} bytes of output were not copied to the container's log`);
  if (stderrDropped > 0) note(link, `${stderrDropped} bytes of stderr are not in this file`);
  const source = "that came after the CLI's end from a process it had left running";
  if (late.bytes > 0) note(link, `${late.bytes} bytes ${source} are not part of its output: ${late.text.replace(/\s+/g, " ").trim()}`);
  if (leftoversEnded > 0) note(link, `ended ${leftoversEnded} process${leftoversEnded > 1 ? "es" : ""} that the CLI had left running`);
}

function cliEnd(result: CliResult, link: WriterLink, figures: CgroupFigures, keeper: StateKeeper | null): CliEnd {
  const { exitCode, signal, cause, bytes, lines } = result;
  const { oomKills, peakMemoryBytes, memoryLimitBytes } = figures;
  const written = link.flushed;
  // A volume that hung and came back in time has cost nothing.
  const error = result.error ?? (written < bytes ? link.error : null);
  const outputSha256 = link.flushedSha256;
  const end = { exitCode, signal, cause, bytes, written, outputSha256, lines, oomKills, peakMemoryBytes, memoryLimitBytes, error };
  return keeper ? { ...end, state: keeper.end() } : end;
}

/** The container's exit code for the way the CLI ended, as a shell would put it. */
async function exitCodeOf({ exitCode, signal }: CliResult): Promise<number> {
  if (exitCode !== null) return exitCode;
  const { constants } = await import("node:os");
  const number = signal === null ? undefined : constants.signals[signal];
  return number === undefined ? RUNNER_EXIT.failed : 128 + number;
}

function note(link: WriterLink, text: string): void {
  link.meta({ type: "note", at: new Date().toISOString(), text });
}
