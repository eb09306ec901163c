import { systemClock } from "./clock.ts";
import { deferred } from "./deferred.ts";
import { ApiError, isAccessDenied, isBadCertificate, isTransient, isUnauthorized, isUnknownPath, problemText } from "./kube/api-error.ts";
import { backoffMs } from "./kube/send-request.ts";
import type { ErrorFacts } from "./outcome/observation.ts";
import { log, messageOf, type RunContext } from "./run-context.ts";

/** How long a phase repeats a request before the error counts. */
const TRANSIENT = { timeoutMs: 120_000, pauseMs: 2000 };
/** An API server that has just started, or whose Roles are just being applied, denies for a moment what it will allow. */
const DENIED = { timeoutMs: 3000, pauseMs: 1000 };
/** A token or a certificate that is just being replaced, or whose authenticator is away. */
const UNKNOWN = { timeoutMs: 30_000, pauseMs: 2000 };
const BACKGROUND_PAUSE = { minMs: 2000, maxMs: 15_000 };

function limitFor(error: unknown): typeof TRANSIENT | null {
  if (isTransient(error)) return TRANSIENT;
  if (isAccessDenied(error)) return DENIED;
  return isUnauthorized(error) || isBadCertificate(error) ? UNKNOWN : null;
}

/** Repeats a call while its error is one that passes, and logs that once. Any other error, and a caller that leaves, ends it at once. */
export async function retryTransient<T>(context: RunContext, what: string, call: () => Promise<T>): Promise<T> {
  const { clock, leaving } = context;
  const begun = clock.now();
  let lostAnswer = false;
  let refusedAt: number | null = null;
  for (let logged = false; ; logged = true) {
    try {
      return await call();
    } catch (error) {
      // One of the tries may have taken effect: the last error must not hide that.
      lostAnswer ||= error instanceof ApiError && error.maybeApplied;
      const last = lostAnswer && error instanceof ApiError ? error.afterLostAnswer() : error;
      const limit = limitFor(error);
      if (limit === null || leaving.aborted) throw last;
      if (limit !== TRANSIENT) refusedAt ??= clock.now();
      const { timeoutMs, pauseMs } = limit;
      if (clock.now() - (limit === TRANSIENT ? begun : (refusedAt ?? begun)) >= timeoutMs) throw last;
      if (!logged) log(context, "warning", `${what}: ${messageOf(error)}; trying again for up to ${timeoutMs / 1000} s`);
      await clock.sleep(pauseMs, leaving);
      if (leaving.aborted) throw last;
    }
  }
}

/** `left`: the run has ended, or the caller leaves. An error is one that no further try helps against. */
export type BackgroundEnd = "done" | "left" | { readonly error: unknown };

/** Repeats a call beside a run that goes on, until it succeeds, fails for good, the run ends or the caller leaves. */
export async function retryInBackground(
  { run, clock, leaving }: RunContext,
  call: () => Promise<void>,
  isFinal: (error: unknown) => boolean,
): Promise<BackgroundEnd> {
  const over = new AbortController();
  void run.settled.then(() => over.abort());
  const ended = AbortSignal.any([over.signal, leaving]);
  for (let failures = 1; ; failures++) {
    await clock.sleep(backoffMs(BACKGROUND_PAUSE, failures, Math.random), ended);
    if (ended.aborted) return "left";
    try {
      await call();
      return "done";
    } catch (error) {
      if (isFinal(error)) return { error };
    }
  }
}

/** What a promise resolves to; null = not in time, or the caller leaves. */
export async function withTimeout<T>({ clock, leaving }: RunContext, ms: number, promise: Promise<T>): Promise<T | null> {
  const done = new AbortController();
  const late = clock.sleep(ms, AbortSignal.any([done.signal, leaving])).then(() => null);
  return Promise.race([promise, late]).finally(() => done.abort());
}

/** What a promise resolves to; null = the caller leaves. */
export function unlessLeaving<T>(leaving: AbortSignal, promise: Promise<T>): Promise<T | null> {
  const left = deferred<null>();
  const leave = () => left.resolve(null);
  leaving.addEventListener("abort", leave);
  if (leaving.aborted) leave();
  return Promise.race([promise, left.promise]).finally(() => leaving.removeEventListener("abort", leave));
}

/** A create that is under way when a run leaves gets this long: broken off, it could still make an object that nobody knows of. */
const CREATE_GRACE_MS = 8000;

/** Repeats a create as `retryTransient` does, with a signal that is aborted some time after the caller leaves. */
export async function retryCreate<T>(context: RunContext, what: string, create: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { leaving } = context;
  const late = new AbortController();
  let cancel = () => {};
  const begin = () => {
    cancel = systemClock.after(CREATE_GRACE_MS, () => late.abort(leaving.reason), true);
  };
  leaving.addEventListener("abort", begin, { once: true });
  if (leaving.aborted) begin();
  try {
    return await retryTransient(context, what, () => create(late.signal));
  } finally {
    cancel();
    leaving.removeEventListener("abort", begin);
  }
}

/** The API server has rejected the request, or was never reached, so nothing was changed. Any other error leaves that open. */
export function isCertainlyNotApplied(error: unknown): boolean {
  return error instanceof ApiError && !error.maybeApplied;
}

/** What an error says about the request; a proxy's 404 refuses nothing. */
export function errorFacts(error: unknown): ErrorFacts {
  const isApi = error instanceof ApiError;
  const certificate = isBadCertificate(error);
  const message = (certificate ? problemText(error) : null) ?? messageOf(error);
  return { message, status: isApi && !isUnknownPath(error) ? error.httpStatus : null, ...(certificate && { certificate }) };
}
