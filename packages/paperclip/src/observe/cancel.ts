import { apiOfRun, type HostApi } from "../host/api.ts";
import { readRun } from "../host/runs.ts";
import type { ExecutionContext } from "../host/types.ts";
import type { RunLog } from "./log.ts";

/** A cancel is noticed within 3 s, including the time of the answer. */
const POLL_MS = 2500;
/** Only these statuses mean that somebody wants the run to stop. */
const CANCEL_STATUSES = new Set(["cancelled", "cancelling"]);

export interface CancelWatch {
  readonly signal: AbortSignal;
  stop(): void;
}

export interface CancelOptions {
  readonly serverEnv: NodeJS.ProcessEnv;
  readonly pollMs?: number;
}

/** Learns of a cancel from the host's abort signal where there is one, else by asking for the run's status. */
export async function watchCancel(ctx: ExecutionContext, log: RunLog, options: CancelOptions): Promise<CancelWatch> {
  const cancel = new AbortController();
  const api = apiOfRun(ctx, options.serverEnv);
  const pollMs = options.pollMs ?? POLL_MS;
  const poll = (firstMs: number) => (api === null ? () => {} : pollStatus({ api, runId: ctx.runId, cancel, log, pollMs, firstMs }));
  if (ctx.signal !== undefined && ctx.onCancellationReady !== undefined) {
    const stop = followSignal(ctx.signal, cancel, () => poll(0));
    await ctx.onCancellationReady();
    return { signal: cancel.signal, stop };
  }
  if (api === null) await log.warning("cancelling is off: the host gave no API address or no token for this run");
  return { signal: cancel.signal, stop: poll(pollMs) };
}

/** An abort by an operator cancels. One for a lost lease says nothing about what anybody wants and is the last one, so the status is polled from then on. */
function followSignal(signal: AbortSignal, cancel: AbortController, poll: () => () => void): () => void {
  let stopPolling = () => {};
  const onAbort = () => {
    const reason = signal.reason instanceof Error ? signal.reason.message : String(signal.reason ?? "cancelled");
    if (!/lease lost/i.test(reason)) cancel.abort(new Error(reason));
    else stopPolling = poll();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return () => {
    signal.removeEventListener("abort", onAbort);
    stopPolling();
  };
}

interface Poll {
  readonly api: HostApi;
  readonly runId: string;
  readonly cancel: AbortController;
  readonly log: RunLog;
  readonly pollMs: number;
  readonly firstMs: number;
}

function pollStatus({ api, runId, cancel, log, pollMs, firstMs }: Poll): () => void {
  let stopped = false;
  let isProblemLogged = false;
  const round = async () => {
    const answer = await statusOf(api, runId);
    if (stopped) return;
    if ("status" in answer) {
      isProblemLogged = false;
      if (CANCEL_STATUSES.has(answer.status)) {
        cancel.abort(new Error(`the host says ${answer.status}`));
        return;
      }
    } else if (!isProblemLogged) {
      isProblemLogged = true;
      void log.warning(`the host's run status cannot be read (${answer.problem}); a cancel may come late`);
    }
    timer = setTimeout(round, pollMs);
  };
  let timer = setTimeout(round, firstMs);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

async function statusOf(api: HostApi, runId: string): Promise<{ readonly status: string } | { readonly problem: string }> {
  try {
    return (await readRun(api, runId)) ?? { problem: "the host does not know this run" };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
