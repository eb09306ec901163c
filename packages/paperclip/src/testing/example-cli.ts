import type { AgentCli } from "../agent-cli/agent-cli.ts";
import { providerKey } from "../doctor/provider-key.ts";
import { silentReport } from "./silent-report.ts";

/** An agent CLI without any output: for tests of what is the same for all of them. */
export const exampleCli: AgentCli = {
  type: "example_k8s",
  label: "Example",
  container: "agent",
  jobPrefix: "agent-",
  settings: { own: {} },
  variables: { allowlist: ["EXAMPLE_*"], denylist: [], removed: [] },
  skillsFolder: ".example/skills",
  models: [{ id: "acme/m-1", label: "M 1" }],
  listModels: async () => [{ id: "acme/m-1", label: "M 1" }],
  sessionManagement: {
    supportsSessionResume: true,
    nativeContextManagement: "confirmed",
    defaultSessionCompaction: { enabled: true, maxSessionRuns: 0, maxRawInputTokens: 0, maxSessionAgeHours: 0 },
  },
  finalLine: null,
  state: { parts: [], claim: { prefix: "agent-db-", env: () => ({}) }, version: () => ["node", "--version"], seeds: [] },
  plan: () => ({ argv: ["node"], plainEnv: {}, secretEnv: {}, notes: [] }),
  billing: () => ({ provider: null, biller: "acme", type: "api" }),
  checks: ({ known }) => [providerKey("Acme", ["ACME_API_KEY"], known)],
  createParser: () => ({ push: () => [], report: () => silentReport, fault: () => null }),
};
