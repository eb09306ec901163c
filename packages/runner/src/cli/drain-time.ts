// How long what the CLI has left may take to reach the volume.
import type { RunnerConfig } from "../read-spec.ts";
import type { StopRequest } from "./stop-request.ts";

/** A volume gets at least a moment, whatever the spec says. */
export const drainTime = ({ spec }: RunnerConfig): number => Math.max(spec.drainSec * 1000, 200);

/** Until when the volume is waited for, as `performance.now()`: for minutes, or for a `share` of the short time that a pod has which is being stopped. */
export function drainEnd(config: RunnerConfig, { askedAt }: StopRequest, overAt: number, share = 1): number {
  const short = drainTime(config) * share;
  if (askedAt !== null) return Math.max(overAt, askedAt) + short;
  return overAt + Math.max(short, (config.spec.volumeWaitSec ?? 0) * 1000);
}

export const notTaken = (overAt: number): string =>
  `the volume did not take the output within ${Math.round((performance.now() - overAt) / 1000)} s of the CLI's end`;
