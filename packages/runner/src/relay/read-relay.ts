// Reads the relay's part of the spec.
import { join } from "node:path";
import type { RelaySpec } from "../records.ts";
import { parseTarget, type Target } from "./target.ts";

export interface RelayConfig extends Omit<RelaySpec, "target" | "retry"> {
  readonly target: Target;
  readonly targetUrl: string;
  readonly statuses: readonly number[];
  readonly pattern: RegExp;
  readonly retryMs: number;
}

/** Throws an error whose text names nothing of the spec. */
export function readRelay(spec: RelaySpec | null | undefined, folder: string): RelayConfig | null {
  if (!spec) return null;
  try {
    const { target, urlEnv, tokenEnv, credentialsFile, headers, retry, maxReplayBytes } = spec;
    const names = [urlEnv, tokenEnv, credentialsFile, headers.authorization, headers.runId, retry.bodyPattern];
    if (!names.every((name) => typeof name === "string" && name !== "")) throw new Error("a name is missing");
    if (!(retry.maxSec >= 0) || !(maxReplayBytes >= 0)) throw new Error("a number is missing");
    return {
      ...{ target: parseTarget(target), targetUrl: target, urlEnv, tokenEnv, headers, maxReplayBytes },
      credentialsFile: join(folder, credentialsFile),
      statuses: [...retry.statuses],
      pattern: new RegExp(retry.bodyPattern),
      retryMs: retry.maxSec * 1000,
    };
  } catch {
    throw new Error("the spec's relay cannot be understood");
  }
}
