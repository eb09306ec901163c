// The first thing that a runner does, with as little code loaded as can be: the volume's answer takes its time, and the rest is loaded meanwhile.
import { readOrNull } from "./files.ts";
import { type RunnerConfig, readConfig } from "./read-spec.ts";
import { WriterLink } from "./writer/writer-link.ts";

export interface OpenRun {
  readonly config: RunnerConfig;
  readonly pod: string;
  readonly link: WriterLink;
}

/** The text says why there is no run. */
export function openRun(runnerFile: string): OpenRun | string {
  let config: RunnerConfig;
  try {
    config = readConfig(runnerFile);
  } catch (error) {
    return error instanceof Error ? error.message : "the spec cannot be read";
  }
  const { spec, waits } = config;
  const pod = process.env.HOSTNAME || readOrNull("/proc/sys/kernel/hostname")?.trim() || "unknown";
  return { config, pod, link: new WriterLink(runnerFile, { run: spec.run, nonce: spec.nonce, pod, files: spec.files }, waits.stallMs) };
}
