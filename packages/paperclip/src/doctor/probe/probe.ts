import {
  ApiError,
  type ConnectOptions,
  type Engine,
  LineSplitter,
  type MissingProgram,
  messageOf,
  type SelfCheckFinding,
  selfCheckFinding,
} from "@paperclip-k8s/engine";
import type { EnvironmentCheck } from "../../host/types.ts";
import { missingOf } from "../../prepare/tools/choice.ts";
import { check } from "../check.ts";
import { podFindings } from "./pod-findings.ts";
import { probeOutcome } from "./probe-outcome.ts";
import type { Probe } from "./probe-request.ts";

/** A problem that may pass by itself is reported after a few seconds. */
const TIMEOUTS = {
  schedule: 25_000,
  imagePull: 6000,
  containerConfig: 6000,
  missingVolume: 10_000,
  noPod: 6000,
  cancel: 4000,
  explain: 1000,
};
export type ProbeTimeouts = typeof TIMEOUTS;

export interface Probed {
  readonly checks: readonly EnvironmentCheck[];
  /** What a run would not have found in its image; null = nothing. */
  readonly missing: MissingProgram | null;
  readonly imageId: string | null;
}

/** Runs a pod with the real image, user, volumes and variables that checks itself: an ordinary run of the engine, deleted at its end. `ms` is for all of it. */
export async function runProbe(
  probe: Probe,
  { ms, timeouts }: { readonly ms: number; readonly timeouts?: Partial<ProbeTimeouts> | undefined },
  engine: Engine,
  cluster: ConnectOptions,
): Promise<Probed> {
  const findings: SelfCheckFinding[] = [];
  const warnings: string[] = [];
  const lines = new LineSplitter();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error("the time of the test is over")), ms);
  const io = {
    signal: late.signal,
    onOutput: async (bytes: Buffer) => {
      const found = lines.push(bytes).map((line) => selfCheckFinding(line.bytes.toString()));
      findings.push(...found.filter((finding) => finding !== null));
    },
    onStderr: async () => {},
    onStatus: ({ level, text }: { readonly level: string; readonly text: string }) => {
      if (level === "warning") warnings.push(text);
    },
  };
  try {
    const outcome = await engine.run(probe.request, cluster, io, { ...TIMEOUTS, ...timeouts });
    const facts = { request: probe.request, reported: findings.length > 0, waitedMs: ms, lastWarning: warnings.at(-1) ?? null };
    const missing = missingOf(outcome) ?? (findings.some(({ missing }) => missing === true) ? "cli-missing" : null);
    return { checks: [...probeOutcome(outcome, facts), ...podFindings(findings, probe)], missing, imageId: outcome.evidence.imageId };
  } catch (error) {
    const checks = [check("error", error instanceof ApiError ? "probe_not_created" : "probe_failed", messageOf(error))];
    return { checks, missing: null, imageId: null };
  } finally {
    clearTimeout(timer);
  }
}
