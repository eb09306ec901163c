import { ApiError, type Engine, PathPartError, RequestError, type RunOutcome } from "@paperclip-k8s/engine";
import type { AgentCli } from "./agent-cli.ts";
import { type CancelOptions, type CancelWatch, watchCancel } from "./cancel.ts";
import { type AgentConfig, parseConfig } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import type { Ending } from "./failure.ts";
import type { ExecutionContext, ExecutionResult } from "./host.ts";
import { LogSink } from "./log-sink.ts";
import { stateDir } from "./paths.ts";
import { buildPrompt } from "./prompt.ts";
import { buildRequest, type Turn, workingDir } from "./request.ts";
import { buildResult } from "./result.ts";
import { incomingSession } from "./session.ts";
import { TurnOutput } from "./turn-output.ts";

export interface ExecuteOptions extends CancelOptions {
  readonly engine: Engine;
}

/** One run of an agent, from the host's context to the host's result. */
export async function execute(cli: AgentCli, ctx: ExecutionContext, options: ExecuteOptions): Promise<ExecutionResult> {
  const log = new LogSink(ctx.onLog);
  let config: AgentConfig;
  let turn: Turn;
  try {
    config = parseConfig(ctx.config, options.serverEnv);
    turn = planTurn(cli, ctx, config, { sessionId: incomingSession(ctx), attempt: 1 }, options.serverEnv);
  } catch (error) {
    return refusal(error);
  }
  const cancel = await watchCancel(ctx, log, options);
  try {
    const first = await runTurn(turn, log, cancel, options);
    if (!needsFreshSession(turn, first)) return buildResult(turn, first);
    await log.warning(`session ${turn.sessionId} is not known to the CLI any more; starting a fresh one`);
    const fresh = planTurn(cli, ctx, config, { sessionId: null, attempt: 2 }, options.serverEnv);
    return buildResult(fresh, await runTurn(fresh, log, cancel, options));
  } catch (error) {
    return refusal(error);
  } finally {
    cancel.stop();
    await log.idle();
  }
}

function planTurn(
  cli: AgentCli,
  ctx: ExecutionContext,
  config: AgentConfig,
  start: { readonly sessionId: string | null; readonly attempt: number },
  serverEnv: NodeJS.ProcessEnv,
): Turn {
  const state = stateDir(ctx, config, cli.container);
  const plan = cli.plan({ config, sessionId: start.sessionId, stateDir: state });
  return { ctx, cli, config, plan, prompt: buildPrompt(ctx, config), stateDir: state, ...start, serverEnv };
}

async function runTurn(turn: Turn, log: LogSink, cancel: CancelWatch, options: ExecuteOptions): Promise<Ending> {
  const output = new TurnOutput(turn.cli, log);
  const request = buildRequest(turn);
  await announce(turn, options);
  const outcome: RunOutcome = await options.engine.run(
    request,
    { kubeconfig: turn.config.kubeconfig },
    {
      signal: cancel.signal,
      onOutput: (bytes) => output.stdout(bytes),
      onStderr: (text) => output.stderr(text),
      onStatus: (line) => log.status(line),
    },
  );
  await output.end();
  const report = output.parser.report();
  return { outcome, report, fault: output.parser.fault(output.stderrTail), stderr: output.stderrTail, now: Date.now() };
}

async function announce(turn: Turn, options: ExecuteOptions): Promise<void> {
  const { ctx, config } = turn;
  await ctx.onMeta?.({
    adapterType: turn.cli.type,
    command: `kubectl job/${options.engine.jobNameOf(buildRequest(turn))}`,
    cwd: workingDir(ctx, config),
    commandArgs: [...turn.plan.argv],
    commandNotes: [`image ${config.image}`, `namespace ${config.namespace}`, ...turn.plan.notes],
    prompt: turn.prompt,
    promptMetrics: { promptChars: turn.prompt.length },
  });
  ctx.onDispatch?.();
}

function needsFreshSession(turn: Turn, ending: Ending): boolean {
  return turn.sessionId !== null && ending.fault?.kind === "unknown-session" && ending.outcome.kind === "exited";
}

/** Bad input, found before anything was created: the operator has to act, a retry would not help. */
function refusal(error: unknown): ExecutionResult {
  const base = { exitCode: null, signal: null, timedOut: false } as const;
  if (error instanceof ConfigError || error instanceof PathPartError || error instanceof RequestError)
    return { ...base, errorCode: "configuration_incomplete", errorMessage: error.message };
  if (error instanceof ApiError && error.code === "api_config")
    return { ...base, errorCode: "configuration_incomplete", errorMessage: `kubeconfig: ${error.message}` };
  return { ...base, errorCode: "adapter_failed", errorMessage: error instanceof Error ? error.message : String(error) };
}
