import type { ExecutionContext } from "../host/types.ts";
import type { LogSink } from "./log-sink.ts";

/** A cancel is heard within 3 s, the answer's own time included. */
const POLL_MS = 2500;
const REQUEST_TIMEOUT_MS = 5000;
/** Only these words of the host mean that somebody wants the run to stop. */
const CANCEL_STATUSES = new Set(["cancelled", "cancelling"]);

export interface CancelWatch {
  readonly signal: AbortSignal;
  stop(): void;
}

/** Learns of a cancel from the host's abort signal where there is one, else by asking for the run's status. */
export async function watchCancel(ctx: ExecutionContext, log: LogSink, options: CancelOptions): Promise<CancelWatch> {
  const cancel = new AbortController();
  const status = statusReader(ctx, options);
  if (ctx.signal !== undefined && ctx.onCancellationReady !== undefined) {
    const stop = followSignal(ctx.signal, status, cancel, log, options.pollMs ?? POLL_MS);
    await ctx.onCancellationReady();
    return { signal: cancel.signal, stop };
  }
  if (status === null) {
    await log.warning("cancelling is off: the host gave no API address or no token for this run");
    return { signal: cancel.signal, stop: () => {} };
  }
  return { signal: cancel.signal, stop: pollStatus(status, cancel, log, options.pollMs ?? POLL_MS) };
}

export interface CancelOptions {
  readonly serverEnv: NodeJS.ProcessEnv;
  readonly pollMs?: number;
}

/** What the host says of a run right now. */
export type StatusReader = () => Promise<{ readonly status: string; readonly errorCode?: string } | { readonly trouble: string }>;

/** An abort by an operator cancels; one because the host lost its lease says nothing about what anybody wants, and no other will come: ask from then on. */
function followSignal(
  signal: AbortSignal,
  status: StatusReader | null,
  cancel: AbortController,
  log: LogSink,
  everyMs: number,
): () => void {
  let stopPolling = () => {};
  const onAbort = () => {
    const reason = signal.reason instanceof Error ? signal.reason.message : String(signal.reason ?? "cancelled");
    if (!/lease lost/i.test(reason)) cancel.abort(new Error(reason));
    else if (status !== null) stopPolling = pollStatus(status, cancel, log, everyMs, 0);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return () => {
    signal.removeEventListener("abort", onAbort);
    stopPolling();
  };
}

function pollStatus(status: StatusReader, cancel: AbortController, log: LogSink, everyMs: number, firstMs = everyMs): () => void {
  let stopped = false;
  let told = false;
  const round = async () => {
    const answer = await status();
    if (stopped) return;
    if ("status" in answer) {
      told = false;
      if (CANCEL_STATUSES.has(answer.status)) {
        cancel.abort(new Error(`the host says ${answer.status}`));
        return;
      }
    } else if (!told) {
      told = true;
      void log.warning(`the host's run status cannot be read (${answer.trouble}); a cancel may come late`);
    }
    timer = setTimeout(round, everyMs);
  };
  let timer = setTimeout(round, firstMs);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

export function statusReader(ctx: ExecutionContext, options: CancelOptions): StatusReader | null {
  const base = apiBase(options.serverEnv);
  if (base === null || ctx.authToken === undefined) return null;
  const url = `${base}/api/heartbeat-runs/${encodeURIComponent(ctx.runId)}`;
  return async () => {
    try {
      const answer = await fetch(url, {
        headers: { authorization: `Bearer ${ctx.authToken}` },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      if (!answer.ok) return { trouble: `HTTP ${answer.status}` };
      const { status, errorCode } = (await answer.json()) as { status?: unknown; errorCode?: unknown };
      if (typeof status !== "string") return { trouble: "an answer without a status" };
      return typeof errorCode === "string" ? { status, errorCode } : { status };
    } catch (error) {
      return { trouble: error instanceof Error ? error.name : "no answer" };
    }
  };
}

/** The host's API as this very process reaches it. */
export function apiBase(env: NodeJS.ProcessEnv): string | null {
  if (env.PAPERCLIP_LISTEN_PORT) return `http://127.0.0.1:${env.PAPERCLIP_LISTEN_PORT}`;
  return env.PAPERCLIP_API_URL?.replace(/\/+$/, "") ?? null;
}
