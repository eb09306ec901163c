import { type Adoption, ApiError, type Engine, findOwnPod, OwnPodError, PathPartError, RequestError } from "@paperclip-k8s/engine";
import type { AgentCli } from "./agent-cli/agent-cli.ts";
import type { Ending } from "./conclude/failure.ts";
import { type Remedy, remedyFor, withEarlier } from "./conclude/next-attempt.ts";
import { buildResult } from "./conclude/result.ts";
import { adoptedMeta } from "./handover/adoption/adopted-meta.ts";
import { onLockConflict } from "./handover/adoption/on-lock-conflict.ts";
import { ownTurn } from "./handover/adoption/own-attempt.ts";
import { detachedResult } from "./handover/drain/detached-result.ts";
import type { ExecutionContext, ExecutionResult, InvocationMeta } from "./host/types.ts";
import { type CancelOptions, type CancelWatch, watchCancel } from "./observe/cancel.ts";
import { LogSink } from "./observe/log-sink.ts";
import { TurnOutput } from "./observe/output.ts";
import { createProgress } from "./observe/progress.ts";
import { withTimeout } from "./observe/with-timeout.ts";
import { groundOf, openWake, prepareTurn, type Start, type Turn } from "./prepare/attempt.ts";
import { BundleError } from "./prepare/bundle/write-bundle.ts";
import { inheritFrom } from "./prepare/inherit/inherit-from.ts";
import type { Inherited } from "./prepare/inherit/inherited.ts";
import { buildMeta } from "./prepare/prompt/build-meta.ts";
import { buildRequest, labelWarnings } from "./prepare/request.ts";
import { groundOfJob, resumableBehind } from "./prepare/resume-fingerprint.ts";
import { lostSession } from "./prepare/saved-session.ts";
import { chooseSession } from "./prepare/session.ts";
import { unusedClaim } from "./prepare/state/unused-claim.ts";
import { sweepUp } from "./prepare/sweep/sweep-up.ts";
import type { AgentConfig } from "./settings/agent-config.ts";
import { ConfigError } from "./settings/config-error.ts";
import { SERVER_CONTAINER_NAMES } from "./settings/fields/cluster.ts";
import { parseConfig } from "./settings/parse.ts";

export interface ExecuteOptions extends CancelOptions {
  readonly engine: Engine;
  /** Aborted = leave the Job as it is, for the next server. */
  readonly detach?: AbortSignal;
  /** How long the host may take over what it is told at the end. */
  readonly hostPatienceMs?: number;
}

/** One run of an agent, from the host's context to the host's result. Bad input is told before anything is created. */
export async function execute(cli: AgentCli, ctx: ExecutionContext, options: ExecuteOptions): Promise<ExecutionResult> {
  const log = new LogSink(ctx.onLog);
  let cancel: CancelWatch | null = null;
  try {
    const { serverEnv } = options;
    const config = parseConfig(ctx.config, serverEnv, cli.type);
    const inherited = await inherit(config, serverEnv);
    for (const text of [...config.warnings, ...inherited.warnings]) void log.warning(text);
    const wake = await openWake({ ctx, cli, config, inherited, serverEnv });
    void sweepUp(wake, (trouble) => log.warning(trouble)).catch(() => {});
    const session = chooseSession(ctx.runtime, groundOf(wake));
    if (session.note !== null) void log.info(session.note);
    const turn = await prepareTurn(wake, { sessionId: session.sessionId, attempt: 1, without: [] });
    const unused = unusedClaim(wake).then((text) => (text === null ? undefined : log.warning(text)));
    cancel = await watchCancel(ctx, log, options);
    const result = await runAttempts(turn, log, cancel, options);
    await withTimeout(unused, options.hostPatienceMs);
    return result;
  } catch (error) {
    return refusal(error);
  } finally {
    cancel?.stop();
    await log.idle(options.hostPatienceMs);
  }
}

/** Image, namespace, volume and the rest, from the pod this server runs in, where the settings do not say otherwise. */
export async function inherit(config: AgentConfig, serverEnv: NodeJS.ProcessEnv): Promise<Inherited> {
  const containers = config.serverContainer === null ? SERVER_CONTAINER_NAMES : [config.serverContainer];
  const found = await findOwnPod({ kubeconfig: config.kubeconfig }, { env: serverEnv, containers });
  return inheritFrom(found.pod, config, { env: serverEnv, ...(found.pod === null ? { noPod: found.why } : {}) });
}

/** The turn, and once more where another start helps: told in the log, counted in the result. */
async function runAttempts(first: Turn, log: LogSink, cancel: CancelWatch, options: ExecuteOptions): Promise<ExecutionResult> {
  const earlier: Ending[] = [];
  for (let turn = first; ; ) {
    const { ending, adopted } = await runTurn(turn, log, cancel, options);
    const ground = adopted === null ? groundOf(turn) : groundOfJob(adopted);
    const remedy = cancel.signal.aborted ? null : (remedyFor(turn, ending) ?? ownTurn(turn, ending, adopted));
    if (ending.outcome.kind === "detached" || ending.outcome.kind === "superseded") return detachedResult(turn, ending, ground);
    if (remedy === null) {
      const lost = lostSession(turn, ending);
      if (lost !== null) void log.warning(lost);
      return buildResult(turn, withEarlier(ending, earlier), ground);
    }
    void log.warning(remedy.note);
    earlier.push(ending);
    turn = await prepareTurn(turn, await startOf(turn, remedy, adopted, log));
  }
}

/** Behind a Job of another run its session is gone on with only where it fits this run's ground. */
async function startOf(turn: Turn, { start }: Remedy, adopted: Adoption | null, log: LogSink): Promise<Start> {
  if (adopted === null) return start;
  const { sessionId, note } = resumableBehind(adopted, turn, start.sessionId);
  if (note !== null) void log.info(note);
  return { ...start, sessionId };
}

interface RanTurn {
  readonly ending: Ending;
  /** The Job of another run that it went on with. */
  readonly adopted: Adoption | null;
}

async function runTurn(turn: Turn, log: LogSink, cancel: CancelWatch, options: ExecuteOptions): Promise<RanTurn> {
  const output = new TurnOutput(turn.cli, log);
  const progress = createProgress(turn.ctx);
  for (const text of [...turn.prompt.warnings, ...turn.env.warnings, ...labelWarnings(turn)]) void log.warning(text);
  const announcement = createAnnouncement(turn, options);
  let adopted: Adoption | null = null;
  const outcome = await options.engine.run(
    buildRequest(turn),
    { kubeconfig: turn.config.kubeconfig },
    {
      signal: cancel.signal,
      detach: options.detach,
      onOutput: (bytes) => output.stdout(bytes),
      onStderr: (text) => output.stderr(text),
      onStatus: (line) => {
        progress(line);
        return log.status(line);
      },
      onLockConflict: onLockConflict(turn),
      onJob: (adoption) => {
        adopted = adoption;
        return announcement.make(adoption);
      },
    },
  );
  await withTimeout(Promise.all([announcement.make(null), output.end()]), options.hostPatienceMs);
  const report = output.parser.report();
  const fault = output.parser.fault(output.stderrTail);
  return { ending: { outcome, report, fault, stderr: output.stderrTail, now: Date.now() }, adopted };
}

/** Told once: when the run has its Job, or at its end where it got none. The host's trouble with it is no reason not to run. */
function createAnnouncement(turn: Turn, options: ExecuteOptions): { readonly make: (adopted: Adoption | null) => Promise<void> } {
  let made: Promise<void> | null = null;
  const announce = async (adopted: Adoption | null): Promise<void> => {
    const meta = adopted === null ? await metaOf(turn, options) : adoptedMeta(turn, adopted);
    ctx.onDispatch?.();
    await ctx.onMeta?.(meta);
  };
  const { ctx } = turn;
  return {
    make: (adopted) => {
      made ??= announce(adopted).catch(() => {});
      return made;
    },
  };
}

function metaOf(turn: Turn, options: ExecuteOptions): Promise<InvocationMeta> {
  const { ctx, config, inherited, env, prompt, cwd } = turn;
  return buildMeta({
    adapterType: turn.cli.type,
    jobName: options.engine.jobNameOf(buildRequest(turn)),
    cwd,
    argv: turn.plan.argv,
    image: inherited.image,
    namespace: inherited.namespace,
    timeoutSec: config.timeoutSec,
    notes: [...turn.plan.notes, ...inherited.notes],
    env,
    prompt,
    ctx,
  });
}

const isAgentId = (error: Error): boolean => "field" in error && error.field === "agent.id";
const MENDABLE = [ConfigError, PathPartError, RequestError, OwnPodError];

/** Found before anything was created. What an operator has to mend is told apart from what may pass by itself. */
function refusal(error: unknown): ExecutionResult {
  const base = { exitCode: null, signal: null, timedOut: false } as const;
  if (MENDABLE.some((kind) => error instanceof kind) && error instanceof Error)
    return { ...base, errorCode: isAgentId(error) ? "k8s_agent_id_invalid" : "configuration_incomplete", errorMessage: error.message };
  if (error instanceof ApiError && error.code === "api_config")
    return { ...base, errorCode: "configuration_incomplete", errorMessage: `kubeconfig: ${error.message}` };
  const message = error instanceof Error ? error.message : String(error);
  const transient = { errorFamily: "transient_upstream", executionRecovery: { kind: "bootstrap", providerWorkStarted: false } } as const;
  if (error instanceof BundleError) return { ...base, errorCode: "k8s_volume_unusable", errorMessage: message, ...transient };
  if (!(error instanceof ApiError)) return { ...base, errorCode: "adapter_failed", errorMessage: message };
  return { ...base, errorCode: "k8s_job_create_failed", errorMessage: message, ...transient };
}
