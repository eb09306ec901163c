import { ApiError, type Engine, findOwnPod, OwnPodError, PathPartError, RequestError } from "@paperclip-k8s/engine";
import type { AgentCli } from "./agent-cli.ts";
import { type CancelOptions, type CancelWatch, watchCancel } from "./cancel.ts";
import { type AgentConfig, parseConfig, SERVER_CONTAINER_NAMES } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import type { Ending } from "./failure.ts";
import type { ExecutionContext, ExecutionResult } from "./host.ts";
import { inheritFrom } from "./inherit/inherit-from.ts";
import type { Inherited } from "./inherit/inherited.ts";
import { LogSink } from "./log-sink.ts";
import { createProgress } from "./progress.ts";
import { buildMeta } from "./prompting/build-meta.ts";
import { buildRequest, labelWarnings } from "./request.ts";
import { buildResult } from "./result.ts";
import { chooseSession } from "./session.ts";
import { openWake, prepareTurn, type Turn } from "./turn.ts";
import { TurnOutput } from "./turn-output.ts";

export interface ExecuteOptions extends CancelOptions {
  readonly engine: Engine;
}

/** One run of an agent, from the host's context to the host's result. Bad input is told before anything is created. */
export async function execute(cli: AgentCli, ctx: ExecutionContext, options: ExecuteOptions): Promise<ExecutionResult> {
  const log = new LogSink(ctx.onLog);
  let cancel: CancelWatch | null = null;
  try {
    const { serverEnv } = options;
    const config = parseConfig(ctx.config, serverEnv, cli.type);
    const inherited = await inherit(config, serverEnv);
    for (const text of [...config.warnings, ...inherited.warnings]) await log.warning(text);
    const wake = openWake({ ctx, cli, config, inherited, serverEnv });
    const session = config.agentDbMode === "ephemeral" ? { sessionId: null, note: null } : chooseSession(ctx.runtime, wake.cwd);
    if (session.note !== null) await log.info(session.note);
    const turn = await prepareTurn(wake, { sessionId: session.sessionId, attempt: 1 });
    cancel = await watchCancel(ctx, log, options);
    const first = await runTurn(turn, log, cancel, options);
    if (!needsFreshSession(turn, first)) return buildResult(turn, first);
    await log.warning(`session ${turn.sessionId} is not known to the CLI any more; starting a fresh one`);
    const fresh = await prepareTurn(wake, { sessionId: null, attempt: 2 });
    return buildResult(fresh, await runTurn(fresh, log, cancel, options));
  } catch (error) {
    return refusal(error);
  } finally {
    cancel?.stop();
    await log.idle();
  }
}

/** Image, namespace, volume and the rest, from the pod this server runs in, where the settings do not say otherwise. */
export async function inherit(config: AgentConfig, serverEnv: NodeJS.ProcessEnv): Promise<Inherited> {
  const containers = config.serverContainer === null ? SERVER_CONTAINER_NAMES : [config.serverContainer];
  const found = await findOwnPod({ kubeconfig: config.kubeconfig }, { env: serverEnv, containers });
  return inheritFrom(found.pod, config, { env: serverEnv, ...(found.pod === null ? { noPod: found.why } : {}) });
}

async function runTurn(turn: Turn, log: LogSink, cancel: CancelWatch, options: ExecuteOptions): Promise<Ending> {
  const output = new TurnOutput(turn.cli, log);
  const progress = createProgress(turn.ctx);
  for (const text of [...turn.prompt.warnings, ...turn.env.warnings, ...labelWarnings(turn)]) await log.warning(text);
  await announce(turn, options);
  const outcome = await options.engine.run(
    buildRequest(turn),
    { kubeconfig: turn.config.kubeconfig },
    {
      signal: cancel.signal,
      onOutput: (bytes) => output.stdout(bytes),
      onStderr: (text) => output.stderr(text),
      onStatus: (line) => {
        progress(line);
        return log.status(line);
      },
    },
  );
  await output.end();
  const report = output.parser.report();
  return { outcome, report, fault: output.parser.fault(output.stderrTail), stderr: output.stderrTail, now: Date.now() };
}

/** The host's trouble with what it is told is no reason not to run. */
async function announce(turn: Turn, options: ExecuteOptions): Promise<void> {
  const { ctx, config, inherited, env, prompt, cwd } = turn;
  const meta = await buildMeta({
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
  await Promise.resolve(ctx.onMeta?.(meta)).catch(() => {});
  ctx.onDispatch?.();
}

function needsFreshSession(turn: Turn, ending: Ending): boolean {
  return turn.sessionId !== null && ending.fault?.kind === "unknown-session" && ending.outcome.kind === "exited";
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
  if (!(error instanceof ApiError)) return { ...base, errorCode: "adapter_failed", errorMessage: message };
  return {
    ...base,
    errorCode: "k8s_job_create_failed",
    errorMessage: message,
    errorFamily: "transient_upstream",
    executionRecovery: { kind: "bootstrap", providerWorkStarted: false },
  };
}
