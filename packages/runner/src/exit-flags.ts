import { setFlagsFromString } from "node:v8";

/** `process.exit` joins the compiler's threads while one of them may wait for the main thread to collect garbage, and then never
 * ends (nodejs/node#54918; seen in 1 of 18 runs with much output). What the runner does is mostly native code. */
export function keepExitSafe(): void {
  for (const flag of ["--no-opt", "--no-maglev", "--no-concurrent-sparkplug"]) setFlagsFromString(flag);
}
