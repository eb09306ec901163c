import { type Clock, systemClock } from "../clock.ts";
import { ApiError, isTransient } from "./api-error.ts";
import type { Connection } from "./connection.ts";
import { type ApiRequest, type ApiResponse, isMutation } from "./exchange.ts";

interface Backoff {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Delay before try number `failures + 1`: doubles up to the maximum, half of it at random so that servers do not retry at the same moment. */
export function backoffMs(backoff: Backoff, failures: number, random: () => number): number {
  const full = Math.min(backoff.maxMs, backoff.minMs * 2 ** Math.min(failures - 1, 30));
  return full * (0.5 + random() / 2);
}

export interface RetryOptions extends Partial<Backoff> {
  /** Tries in all. */
  readonly attempts?: number;
  /** A `Retry-After` beyond this is not waited for: the error says when. */
  readonly maxRetryAfterMs?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** Sends a request and repeats it where that cannot do harm; a mutation whose answer was lost is reported with `maybeApplied`. */
export async function sendRequest<T>(connection: Connection, req: ApiRequest, options: RetryOptions = {}): Promise<ApiResponse<T>> {
  const attempts = options.attempts ?? 4;
  let lostAnswer = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await connection.request<T>(req);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const delay = attempt < attempts && !connection.closed.aborted && mayRepeat(req, error) ? delayMs(error, attempt, options) : null;
      if (delay === null) throw lostAnswer ? error.afterLostAnswer() : error;
      lostAnswer ||= error.maybeApplied;
      await (options.clock ?? systemClock).sleep(delay, req.signal, !req.background);
      req.signal?.throwIfAborted();
    }
  }
}

/** 429 means that nothing was done yet; other failures may be repeated only when nothing was sent or sending twice does no harm. */
function mayRepeat(req: ApiRequest, error: ApiError): boolean {
  if (error.httpStatus === 429) return true;
  const transient: boolean = isTransient(error);
  if (!transient) return false;
  return !isMutation(req) || req.idempotent === true || (error.code === "api_unreachable" && !error.maybeApplied);
}

function delayMs(error: ApiError, failures: number, options: RetryOptions): number | null {
  const backoff = { minMs: options.minMs ?? 200, maxMs: options.maxMs ?? 5_000 };
  const own = backoffMs(backoff, failures, options.random ?? Math.random);
  if (error.retryAfterSec === null) return own;
  const asked = error.retryAfterSec * 1000;
  return asked > (options.maxRetryAfterMs ?? 30_000) ? null : Math.max(asked, own);
}
