import { isTransient } from "../cluster/api-error.ts";
import { type RunContext, say } from "./io.ts";

const PATIENCE_MS = 120_000;
const PAUSE_MS = 2000;

/** Repeats a call while the API server is in trouble, for two minutes; says so once. Anything definite is thrown at once. */
export async function persist<T>(context: RunContext, what: string, call: () => Promise<T>): Promise<T> {
  const { clock, io } = context;
  const begun = clock.now();
  for (let told = false; ; told = true) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || io.signal.aborted || clock.now() - begun >= PATIENCE_MS) throw error;
      if (!told) say(context, "warning", `${what}: ${error.message}; trying again for up to ${PATIENCE_MS / 1000} s`);
      await clock.sleep(PAUSE_MS, io.signal);
      if (io.signal.aborted) throw error;
    }
  }
}
