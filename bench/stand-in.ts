import type { AgentCli } from "@paperclip-k8s/paperclip";
import { silentReport } from "@paperclip-k8s/paperclip/testing/silent-report";
import { type Script, scriptText } from "./stamp.ts";

/** An agent CLI that is nothing but its output: what is measured is what lies between it and the host. */
export function standIn(script: Script): AgentCli {
  return {
    type: "bench_k8s",
    label: "Stand-in",
    container: "bench",
    jobPrefix: "agent-bench-",
    models: [],
    listModels: async () => [],
    sessionManagement: {
      supportsSessionResume: false,
      nativeContextManagement: "none",
      defaultSessionCompaction: { enabled: false, maxSessionRuns: 0, maxRawInputTokens: 0, maxSessionAgeHours: 0 },
    },
    finalLine: null,
    plan: () => ({ argv: ["node", "-e", scriptText(script)], plainEnv: {}, secretEnv: {}, notes: [] }),
    billing: () => ({ provider: null, biller: "unknown", type: "unknown" }),
    createParser: () => ({ push: (text) => [{ kind: "other", text }], report: () => REPORT, fault: () => null }),
  };
}

const REPORT = { ...silentReport, finished: true, events: 1 };
