import type { Adoption, Engine } from "@paperclip-k8s/engine";
import type { AgentCli } from "./agent-cli/agent-cli.ts";
import { type AttemptResult, type Attempts, isLeftToOthers, reported } from "./conclude/attempts.ts";
import { commentOnIssue } from "./conclude/comment.ts";
import { nextAttempt } from "./conclude/next-attempt.ts";
import { notPrepared } from "./conclude/not-prepared.ts";
import { type Conclusion, cancelledAfterwards, conclude } from "./conclude/result.ts";
import { lostSession } from "./conclude/session.ts";
import { onLockConflict } from "./handover/adoption/on-lock-conflict.ts";
import type { Handover } from "./handover/drain/detachable-run.ts";
import { is824, needsKeepAlive } from "./host/2026-824/release.ts";
import { callsEnded } from "./host/api.ts";
import { issueOf } from "./host/issue.ts";
import type { ExecutionContext, ExecutionResult } from "./host/types.ts";
import { createAnnouncement } from "./observe/announce.ts";
import { type CancelOptions, type CancelWatch, isCancelled, watchCancel } from "./observe/cancel.ts";
import { cleanText } from "./observe/clean-text.ts";
import { withoutUserNames } from "./observe/home-paths.ts";
import { RunLog, withTimeout } from "./observe/log.ts";
import { AttemptOutput } from "./observe/output.ts";
import { createProgress } from "./observe/progress.ts";
import { checkedConfig } from "./prepare/agent-config.ts";
import { type Attempt, firstStart, gatherInputs, prepareAttempt, type RunInputs } from "./prepare/attempt.ts";
import { inherit } from "./prepare/inherit/inherit-from.ts";
import { jobElsewhere, placeText } from "./prepare/job-place.ts";
import { refuseRemote } from "./prepare/remote-environment.ts";
import { buildRequest, requestWarnings } from "./prepare/request.ts";
import { fingerprintOf } from "./prepare/resume-fingerprint.ts";
import { chooseSession } from "./prepare/session.ts";
import { unusedClaim } from "./prepare/state/agent-claim.ts";
import { stateOfRun } from "./prepare/state/import-session.ts";
import { sweepUp } from "./prepare/sweep/sweep-up.ts";
import { chooseTools, missingOf, toolsNote } from "./prepare/tools/choice.ts";
import { forgetChanged, rememberTools } from "./prepare/tools/remembered.ts";
import { inFormWords } from "./settings/setting-name.ts";

export interface ExecuteOptions extends CancelOptions, Partial<Handover> {
  readonly engine: Engine;
  /** How long the host may take for its callbacks at the end; 30 s unless set. */
  readonly hostTimeoutMs?: number;
}

/** What every attempt of a run uses. */
interface Run {
  readonly log: RunLog;
  readonly cancel: CancelWatch;
  readonly options: ExecuteOptions;
}

/** One run of an agent, from the host's context to the host's result. */
export async function execute(cli: AgentCli, ctx: ExecutionContext, options: ExecuteOptions): Promise<ExecutionResult> {
  const log = new RunLog(ctx.onLog);
  const conclusion = await runToConclusion(cli, ctx, log, options);
  await commentOnIssue(conclusion, ctx, options.serverEnv, log);
  await log.idle(options.hostTimeoutMs);
  // A call that meets the host's own work with the result may cost the result: handover/drain/end-stored.ts.
  await withTimeout(callsEnded(ctx), options.hostTimeoutMs);
  return isCancelled(ctx) ? cancelledAfterwards(conclusion) : conclusion.result;
}

/** Wrong input is found before anything is created. */
async function runToConclusion(cli: AgentCli, ctx: ExecutionContext, log: RunLog, options: ExecuteOptions): Promise<Conclusion> {
  let cancel = null as CancelWatch | null;
  try {
    const { serverEnv } = options;
    refuseRemote(ctx);
    const known = { agent: ctx.agent, hasDefaultModel: !is824(ctx) };
    const { config, policy } = await checkedConfig(cli, ctx.config, serverEnv, known);
    log.format = config.logFormat;
    // At once: a misspelt setting may be the reason that another one is missed.
    for (const text of config.warnings) void log.warning(text);
    const inherited = await inherit(cli, config, serverEnv, policy);
    for (const text of inherited.warnings) void log.warning(text);
    const parts = { ctx, cli, config, inherited, serverEnv, policy };
    const watch = async (): Promise<CancelWatch> => (cancel ??= await watchCancel(ctx, log, options));
    const state = await stateOfRun(parts, { log: (text) => log.info(text), signal: async () => leaving(await watch(), options) });
    const inputs = await gatherInputs(parts, state);
    for (const text of [...inputs.scope.warnings, ...inputs.seeds.warnings]) void log.warning(text);
    void sweepUp(inputs, (problem) => log.warning(problem)).catch(() => {});
    const session = chooseSession(ctx.runtime, fingerprintOf(inputs));
    if (session.note !== null) void log.info(session.note);
    const tools = await chooseTools(inputs);
    if (tools !== null) void log.info(toolsNote(tools, inputs));
    const place = await jobElsewhere(inputs);
    if (place !== null)
      void log.info(`the run that this one continues is in ${placeText(place)}; the settings of now count for the next one`);
    const first = await prepareAttempt(inputs, firstStart(session.sessionId, tools, place));
    const unused = unusedClaim(inputs).then((text) => (text === null ? undefined : log.warning(text)));
    await options.mayStart?.((await watch()).signal, (text) => log.info(text));
    const conclusion = await runAttempts(inputs, first, { log, cancel: await watch(), options });
    await withTimeout(unused, options.hostTimeoutMs);
    return conclusion;
  } catch (error) {
    return logNotPrepared(inFormWords(error, cli), ctx, log);
  } finally {
    cancel?.stop();
  }
}

const leaving = ({ signal }: CancelWatch, { detach }: ExecuteOptions): AbortSignal =>
  detach === undefined ? signal : AbortSignal.any([signal, detach]);

/** The log of a run that was not started says why, too. */
function logNotPrepared(error: unknown, ctx: ExecutionContext, log: RunLog, earlier: readonly AttemptResult[] = []): Conclusion {
  const conclusion = notPrepared(error, issueOf(ctx), earlier);
  void log.failure(`Not started: ${conclusion.result.errorMessage}`);
  return conclusion;
}

/** The first attempt, and further ones as long as something can be changed that helps. */
async function runAttempts(inputs: RunInputs, first: Attempt, run: Run): Promise<Conclusion> {
  let earlier: readonly AttemptResult[] = [];
  try {
    for (let attempt = first; ; ) {
      const last = await runAttempt(attempt, run);
      await forgetChangedImage(last, run.log);
      const next = run.cancel.signal.aborted ? null : nextAttempt(last);
      if (next === null) {
        const lost = lostSession(last);
        if (lost !== null) void run.log.warning(lost);
        const attempts = { earlier, last };
        const conclusion = conclude(attempts);
        if (!isExplained(conclusion, attempts)) void run.log.failure(conclusion.result.errorMessage ?? "");
        return conclusion;
      }
      void run.log.warning(next.note);
      await keepWhatImageLacks(last, run.log);
      earlier = [...earlier, last];
      attempt = await prepareAttempt(inputs, next.start);
    }
  } catch (error) {
    return logNotPrepared(inFormWords(error, first.inputs.cli), first.inputs.ctx, run.log, earlier);
  }
}

/** So that the next run of the image begins with the tools. */
async function keepWhatImageLacks({ attempt, outcome }: AttemptResult, log: RunLog): Promise<void> {
  const missing = missingOf(outcome);
  if (missing === null) return;
  await rememberTools(attempt.inputs, missing, outcome.evidence.imageId).catch((error: Error) =>
    log.warning(`that the image lacks something is not remembered, and the next run finds it out again: ${error.message}`),
  );
}

async function forgetChangedImage({ attempt, outcome }: AttemptResult, log: RunLog): Promise<void> {
  if (attempt.tools === null || attempt.tools === "asked-for") return;
  const forgotten = await forgetChanged(attempt.inputs, outcome.evidence.imageId).catch(() => false);
  if (forgotten) await log.info(`image ${attempt.inputs.inherited.image} has changed; the next run tries it without the tools image`);
}

/** Whether the log need not say why the run failed: an error of the CLI's own says it, or the run ended as somebody wanted. */
function isExplained({ result: { errorMessage }, way }: Conclusion, attempts: Attempts): boolean {
  if (!errorMessage || way === "free" || isLeftToOthers(attempts.last.outcome)) return true;
  // There the CLI's error is somewhere in an event.
  if (attempts.last.attempt.inputs.config.logFormat === "raw") return false;
  return attempts.last.report.errors.some((error) => errorMessage.includes(withoutUserNames(cleanText(error))));
}

async function runAttempt(attempt: Attempt, { log, cancel, options }: Run): Promise<AttemptResult> {
  const { ctx, cli, config } = attempt.inputs;
  const progress = createProgress(ctx);
  const output = new AttemptOutput(cli, log, progress.transcript);
  for (const text of [...attempt.prompt.warnings, ...attempt.env.warnings, ...requestWarnings(attempt)]) void log.warning(text);
  const announce = createAnnouncement(attempt, options.engine);
  let adopted: Adoption | null = null;
  const outcome = await options.engine.run(
    buildRequest(attempt),
    { kubeconfig: config.kubeconfig },
    {
      signal: cancel.signal,
      detach: options.detach,
      onOutput: (bytes) => output.stdout(bytes),
      onStderr: (text) => output.stderr(text),
      onStatus: (line) => {
        progress.status(line);
        return line.silence && !needsKeepAlive(ctx) ? undefined : log.status(line);
      },
      onLockConflict: onLockConflict(attempt),
      onJob: (adoption, jobName) => {
        adopted = adoption;
        return announce(adoption, jobName);
      },
    },
  );
  await withTimeout(Promise.all([announce(null), output.end()]), options.hostTimeoutMs);
  return { attempt, outcome, ...reported(cli, output, outcome), adopted, endedAt: Date.now() };
}
