import { ApiError, isTransient } from "../cluster/api-error.ts";
import { type RunContext, say } from "./io.ts";

const PATIENCE_MS = 120_000;
const PAUSE_MS = 2000;

/** Repeats a call while the API server is in trouble, for two minutes; says so once. Anything definite is thrown at once. */
export async function persist<T>(context: RunContext, what: string, call: () => Promise<T>): Promise<T> {
  const { clock, io } = context;
  const begun = clock.now();
  let lostAnswer = false;
  for (let told = false; ; told = true) {
    try {
      return await call();
    } catch (error) {
      // One of the tries may have taken effect: the last error must not hide that.
      lostAnswer ||= error instanceof ApiError && error.maybeApplied;
      const last = lostAnswer && error instanceof ApiError ? error.afterLostAnswer() : error;
      if (!isTransient(error) || io.signal.aborted || clock.now() - begun >= PATIENCE_MS) throw last;
      if (!told) say(context, "warning", `${what}: ${error.message}; trying again for up to ${PATIENCE_MS / 1000} s`);
      await clock.sleep(PAUSE_MS, io.signal);
      if (io.signal.aborted) throw last;
    }
  }
}
