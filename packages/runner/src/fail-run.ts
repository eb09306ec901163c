// The end of a run whose runner itself has failed.

import { notRun } from "./cli/not-run.ts";
import { signalGroup } from "./cli/process-group.ts";
import { RUNNER_EXIT } from "./records.ts";
import type { Guard } from "./run.ts";
import { writeTerminationMessage } from "./termination-message.ts";

/** Ends the CLI; the container's exit code. Names the kind of error only: its message could quote what must not be logged. */
export function failRun(error: unknown, { group, run, nonce, key }: Guard, terminationLog: string | undefined): number {
  if (group !== null) signalGroup(group, "SIGKILL");
  const { name = "Error", code = "" } = (error ?? {}) as NodeJS.ErrnoException;
  const text = `the runner failed: ${name} ${code}`.trim();
  const end = { ...notRun("runner-failed", text), signal: group === null ? null : ("SIGKILL" as const) };
  writeTerminationMessage(terminationLog, { format: 1, run, nonce, ...end, finalLine: null }, key);
  return RUNNER_EXIT.failed;
}
