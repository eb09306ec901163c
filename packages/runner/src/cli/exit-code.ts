// The container's exit code for the way the CLI ended, as a shell would put it.
import { constants } from "node:os";
import { RUNNER_EXIT } from "../records.ts";

export function exitCodeOf(exitCode: number | null, signal: string | null): number {
  if (exitCode !== null) return exitCode;
  const number = constants.signals[signal as NodeJS.Signals];
  return number === undefined ? RUNNER_EXIT.failed : 128 + number;
}
