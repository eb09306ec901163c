// Keeps the CLI from writing more stdout or stderr than can be passed on.
import type { Readable } from "node:stream";
import { signalGroup } from "../cli/process-group.ts";

/** Older Bun reads a child's pipe into memory without end, paused or not (oven-sh/bun#36035): there the writers are stopped instead. */
const PAUSE_IS_IGNORED = process.versions.bun !== undefined;

export function holdOutput(stream: Readable, group: number, hold: boolean): void {
  if (hold) stream.pause();
  else stream.resume();
  if (PAUSE_IS_IGNORED) signalGroup(group, hold ? "SIGSTOP" : "SIGCONT");
}
