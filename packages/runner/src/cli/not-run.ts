import type { CliEnd, EndCause } from "../records.ts";

const UNREAD = { oomKills: null, peakMemoryBytes: null, memoryLimitBytes: null } as const;

/** The end of a CLI that did not get to run. */
export function notRun(cause: EndCause, error: string): CliEnd {
  return { exitCode: null, signal: null, cause, bytes: 0, written: 0, lines: 0, ...UNREAD, error };
}
