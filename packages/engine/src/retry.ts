import { ApiError, isRefused, isTransient } from "./kube/api-error.ts";
import { type RunContext, say } from "./run-context.ts";

const PATIENCE_MS = 120_000;
/** An API server that has just started, or a Role that is just being applied again, refuses for a moment what it permits. */
const REFUSED_MS = 3000;
const PAUSE_MS = 2000;

/** Repeats a call while the API server is in trouble, for two minutes; says so once. A refusal is believed after seconds, anything definite at once. */
export async function retryTransient<T>(context: RunContext, what: string, call: () => Promise<T>): Promise<T> {
  const { clock, io } = context;
  const begun = clock.now();
  let lostAnswer = false;
  let refusedAt: number | null = null;
  for (let told = false; ; told = true) {
    try {
      return await call();
    } catch (error) {
      // One of the tries may have taken effect: the last error must not hide that.
      lostAnswer ||= error instanceof ApiError && error.maybeApplied;
      const last = lostAnswer && error instanceof ApiError ? error.afterLostAnswer() : error;
      const refused: boolean = isRefused(error);
      if (!(isTransient(error) || refused) || io.signal.aborted) throw last;
      if (refused) refusedAt ??= clock.now();
      const [since, patience, pause] = refused ? [refusedAt ?? begun, REFUSED_MS, REFUSED_MS / 3] : [begun, PATIENCE_MS, PAUSE_MS];
      if (clock.now() - since >= patience) throw last;
      if (!told) say(context, "warning", `${what}: ${(error as ApiError).message}; trying again for up to ${patience / 1000} s`);
      await clock.sleep(pause, io.signal);
      if (io.signal.aborted) throw last;
    }
  }
}
