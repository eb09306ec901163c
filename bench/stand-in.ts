import type { AgentCli } from "@paperclip-k8s/paperclip";
import { exampleCli } from "@paperclip-k8s/paperclip/testing/example-cli";
import { silentReport } from "@paperclip-k8s/paperclip/testing/silent-report";
import { commandOf, type Script } from "./stamp.ts";

/** An agent CLI that is nothing but its output: what is measured is what lies between it and the host. */
export function standIn(script: Script): AgentCli {
  return {
    ...exampleCli,
    type: "bench_k8s",
    container: "bench",
    jobPrefix: "agent-bench-",
    state: undefined,
    plan: () => ({ argv: commandOf(script), plainEnv: {}, secretEnv: {}, notes: [] }),
    createParser: () => ({ push: (text) => [{ kind: "other", text }], report: () => REPORT, fault: () => null }),
  };
}

const REPORT = { ...silentReport, finished: true, events: 1 };
