export { type AdapterOptions, createAdapter } from "./adapter.ts";
export type {
  AgentCli,
  Billing,
  CliFault,
  CliParser,
  CliPlan,
  CliReport,
  CliState,
  CliTurn,
  FaultKind,
  KnownVariables,
  RunEnvironment,
} from "./agent-cli.ts";
export type { BundleLayout, PromptBundle } from "./bundle/prompt-bundle.ts";
export type { AgentConfig } from "./config.ts";
export { ConfigError } from "./config-error.ts";
export { type AdapterEntry, adapterEntry } from "./entry.ts";
export { HOME_MOUNT } from "./environment/mounts.ts";
export type { EnvironmentCheck, ExecutionContext, ExecutionResult, Model, ServerAdapter } from "./host.ts";
export { listedEnv } from "./inherit/listed-env.ts";
export type { McpServer } from "./mcp-servers.ts";
export { createModelDiscovery } from "./models/discover-models.ts";
export { providerKey } from "./test-environment/provider-key.ts";
