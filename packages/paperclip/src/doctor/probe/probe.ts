import {
  ApiError,
  type ConnectOptions,
  type Engine,
  LineSplitter,
  messageOf,
  type SelfCheckFinding,
  selfCheckFinding,
} from "@paperclip-k8s/engine";
import type { EnvironmentCheck } from "../../host/types.ts";
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

/** Runs a pod with the real image, user, volumes and variables that checks itself: an ordinary run of the engine, deleted at its end. `ms` is for all of it. */
export async function runProbe(
  probe: Probe,
  { ms, timeouts }: { readonly ms: number; readonly timeouts?: Partial<ProbeTimeouts> | undefined },
  engine: Engine,
  cluster: ConnectOptions,
): Promise<readonly EnvironmentCheck[]> {
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
    return [...probeOutcome(outcome, facts), ...podFindings(findings, probe)];
  } catch (error) {
    return [check("error", error instanceof ApiError ? "probe_not_created" : "probe_failed", messageOf(error))];
  } finally {
    clearTimeout(timer);
  }
}
