import type { SelfCheckFinding } from "@paperclip-k8s/engine";
import type { EnvironmentCheck } from "../host.ts";
import type { CheckCode } from "./catalogue.ts";
import { check } from "./check.ts";
import type { Probe } from "./probe-request.ts";

type Verdict = readonly [level: EnvironmentCheck["level"], code: CheckCode, text: string] | null;

/** What a finding of the pod means, when it is good and when it is not; null = not worth a line. */
const VERDICTS: Readonly<Record<string, { readonly good: Verdict; readonly bad: Verdict }>> = {
  runtime: { good: ["info", "runtime_found", "Runtime in the image: "], bad: null },
  cli: { good: ["info", "cli_found", "The agent's CLI answers: "], bad: ["error", "cli_missing", "The agent's CLI does not answer: "] },
  "folder:home": { good: null, bad: ["error", "home_unwritable", "The pod cannot write to its home "] },
  "folder:temp": { good: null, bad: ["error", "home_unwritable", "The pod cannot write to its temporary folder "] },
  "folder:work": { good: null, bad: ["warn", "workspace_unwritable", "The pod cannot write to its working folder "] },
  url: { good: ["info", "host_reachable", "The pod reaches "], bad: ["warn", "host_unreachable", "The pod does not reach "] },
};

export function podFindings(findings: readonly SelfCheckFinding[], { apiUrl }: Pick<Probe, "apiUrl">): readonly EnvironmentCheck[] {
  const checks = Object.entries(VERDICTS).flatMap(([name, verdicts]) => {
    const finding = findings.find((each) => each.check === name);
    const verdict = finding === undefined ? null : verdicts[finding.ok ? "good" : "bad"];
    return finding === undefined || verdict === null ? [] : [check(verdict[0], verdict[1], `${verdict[2]}${finding.detail}`)];
  });
  if (apiUrl !== null) return checks;
  return [...checks, check("warn", "host_unknown", "Where pods reach the Paperclip server is not known: PAPERCLIP_API_URL is not set")];
}
