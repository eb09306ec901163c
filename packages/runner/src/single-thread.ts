// Keeps Node's compiler off its worker threads.
import { setFlagsFromString } from "node:v8";

/**
 * `process.exit` joins those threads while one of them may wait for the main thread to collect garbage: the process then
 * never ends (nodejs/node#54918; seen here in 1 of 18 runs with much output). What the runner does is mostly native code.
 */
export function keepCompilerOnMainThread(): void {
  if (process.versions.bun) return;
  for (const flag of ["--no-opt", "--no-maglev", "--no-concurrent-sparkplug"]) setFlagsFromString(flag);
}
