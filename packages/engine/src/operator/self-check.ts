import type { SelfCheckConfig, SelfCheckFinding } from "@paperclip-k8s/runner/self-check";
import { selfCheckText } from "@paperclip-k8s/runner/self-check-text";

export type { SelfCheckConfig, SelfCheckFinding } from "@paperclip-k8s/runner/self-check";

/** The command of a run in which a pod looks at itself: one line of output per finding. */
export function selfCheckArgv(runtime: readonly [string, ...string[]], order: SelfCheckConfig): readonly [string, ...string[]] {
  return [...runtime, "-e", selfCheckText, JSON.stringify(order)];
}

/** Null = a line of somebody else. */
export function selfCheckFinding(line: string): SelfCheckFinding | null {
  try {
    const found = JSON.parse(line) as Partial<SelfCheckFinding> | null;
    const { check, ok, detail } = found ?? {};
    return typeof check === "string" && typeof ok === "boolean" && typeof detail === "string" ? { check, ok, detail } : null;
  } catch {
    return null;
  }
}
