import type { SelfCheckFinding } from "@paperclip-k8s/engine";
import type { EnvironmentCheck } from "../../host/types.ts";
import { check } from "../check.ts";
import type { Probe } from "./probe-request.ts";

type ToCheck = ((detail: string) => EnvironmentCheck) | null;

/** The check for each finding of the pod, for a good and a bad result; null = none. */
const CHECKS: Readonly<Record<string, { readonly good: ToCheck; readonly bad: ToCheck }>> = {
  runtime: { good: (found) => check("info", "runtime_found", `Runtime: ${found}`), bad: null },
  cli: {
    good: (answer) => check("info", "cli_found", `The agent's CLI answers: ${answer}`),
    bad: (why) => check("error", "cli_missing", `The agent's CLI does not answer: ${why}`),
  },
  "folder:home": { good: null, bad: (why) => check("error", "home_unwritable", `The pod cannot write to its home ${why}`) },
  "folder:temp": { good: null, bad: (why) => check("error", "home_unwritable", `The pod cannot write to its temporary folder ${why}`) },
  "folder:work": { good: null, bad: (why) => check("warn", "workspace_unwritable", `The pod cannot write to its working folder ${why}`) },
  url: {
    good: (url) => check("info", "host_reachable", `The pod reaches ${url}`),
    bad: (why) => check("warn", "host_unreachable", `The pod does not reach ${why}`),
  },
};

export function podFindings(
  findings: readonly SelfCheckFinding[],
  { apiUrl, toolsNote }: Pick<Probe, "apiUrl" | "toolsNote">,
): readonly EnvironmentCheck[] {
  const source = toolsNote === null ? [] : [check("info", "tools_used", toolsNote)];
  const found = Object.entries(CHECKS).flatMap(([name, toChecks]) => {
    const finding = findings.find((each) => each.check === name);
    const toCheck = finding === undefined ? null : toChecks[finding.ok ? "good" : "bad"];
    return finding === undefined || toCheck === null ? [] : [toCheck(finding.detail)];
  });
  const checks = [...source, ...found];
  if (apiUrl !== null) return checks;
  return [...checks, check("warn", "host_unknown", "Where pods reach the Paperclip server is not known: PAPERCLIP_API_URL is not set")];
}
