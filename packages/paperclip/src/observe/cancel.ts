import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@paperclip-k8s/engine";
import { apiOfRun, type HostApi } from "../host/api.ts";
import type { ExecutionContext } from "../host/types.ts";
import type { RunLog } from "./log.ts";
import { ask, pollStatus } from "./status-poll.ts";

/** A cancel is noticed within 3 s, including the time of the answer. */
const POLL_MS = 2500;
/** In all some 8 s. */
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 4000;
/** Only these statuses mean that somebody wants the run to stop. */
const CANCEL_STATUSES = new Set(["cancelled", "cancelling"]);

/** The host could not do its part, which passes. */
export class HostTrouble extends Error {
  override readonly name = "HostTrouble";
}

export interface CancelWatch {
  readonly signal: AbortSignal;
  stop(): void;
}

export interface CancelOptions {
  readonly serverEnv: NodeJS.ProcessEnv;
  /** How often a host without abort signals is asked for the run's status. */
  readonly pollMs?: number;
}

/** Learns of a cancel from the host's abort signal where there is one, else by asking for the run's status. */
export async function watchCancel(
  ctx: ExecutionContext,
  log: RunLog,
  { serverEnv, pollMs = POLL_MS }: CancelOptions,
): Promise<CancelWatch> {
  const cancel = new AbortController();
  const api = apiOfRun(ctx, serverEnv);
  const poll = (atOnce: boolean) => (api === null ? () => {} : followStatus(api, ctx, cancel, log, pollMs, atOnce));
  if (ctx.signal !== undefined && ctx.onCancellationReady !== undefined) {
    const stop = followSignal(ctx.signal, cancel, () => poll(true));
    await untilTaken(ctx.onCancellationReady).catch((error: Error) => {
      stop();
      throw error;
    });
    return { signal: cancel.signal, stop };
  }
  if (api === null) await log.warning("cancelling is off: the host gave no API address or no token for this run");
  return { signal: cancel.signal, stop: poll(false) };
}

/** The host writes to its database there, which may be away for a moment: nothing is started yet, so it hears it again. */
async function untilTaken(tell: () => Promise<void> | void): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; ; pause *= 2) {
    try {
      return await tell();
    } catch (error) {
      if (pause > LAST_PAUSE_MS)
        throw new HostTrouble(`Paperclip did not take that this run can be cancelled: ${messageOf(error)}`, { cause: error });
      await sleep(pause);
    }
  }
}

const reasonOf = ({ reason }: AbortSignal): string => (reason instanceof Error ? reason.message : String(reason ?? "cancelled"));

/** Whether the host has cancelled the run by its signal; it also aborts that when its server has lost the run to another. */
export const isCancelled = ({ signal }: Pick<ExecutionContext, "signal">): boolean =>
  signal?.aborted === true && !/lease lost/i.test(reasonOf(signal));

/** An abort by an operator cancels. One for a lost lease says nothing about what anybody wants and is the last one, so the status is polled from then on. */
function followSignal(signal: AbortSignal, cancel: AbortController, poll: () => () => void): () => void {
  let stopPolling = () => {};
  const onAbort = () => {
    if (isCancelled({ signal })) cancel.abort(new Error(reasonOf(signal)));
    else stopPolling = poll();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return () => {
    signal.removeEventListener("abort", onAbort);
    stopPolling();
  };
}

/** Aborts `cancel` when the host says so, until the returned function is called; `atOnce`: the first answer is not waited for. */
function followStatus(
  api: HostApi,
  ctx: ExecutionContext,
  cancel: AbortController,
  log: RunLog,
  pollMs: number,
  atOnce: boolean,
): () => void {
  let stopped = false;
  let hadProblem = false;
  const onAnswer = (answer: string | Error) => {
    if (stopped) return;
    if (typeof answer === "string" && CANCEL_STATUSES.has(answer)) {
      stop();
      cancel.abort(new Error(`the host says ${answer}`));
      return;
    }
    const problem = typeof answer === "string" ? null : answer.message;
    if (problem !== null && !hadProblem) void log.warning(`the host's run status cannot be read (${problem}); a cancel may come late`);
    hadProblem = problem !== null;
  };
  const run = { runId: ctx.runId, companyId: ctx.agent.companyId, api, onAnswer };
  if (atOnce) void ask(run).then(onAnswer);
  const stopPolling = pollStatus(run, pollMs);
  const stop = () => {
    stopped = true;
    stopPolling();
  };
  return stop;
}
