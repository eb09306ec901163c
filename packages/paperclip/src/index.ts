export { type ImportSource, type LeftOut, type RowRule, withoutTrailing } from "@paperclip-k8s/engine";
export { createAdapter } from "./adapter.ts";
export type {
  AgentCli,
  Billing,
  CliParser,
  CliPlan,
  CliTurn,
  CliVariables,
  EarlierSession,
  KnownVariables,
  RunEnvironment,
} from "./agent-cli/agent-cli.ts";
export type { BuiltInSetting, BuiltInType } from "./agent-cli/built-in-type.ts";
export { createModelDiscovery } from "./agent-cli/discover-models.ts";
export type { CliFault, FaultKind } from "./agent-cli/fault.ts";
export { foldersOfServer, leftOut } from "./built-in/common-settings.ts";
export { providerKey } from "./doctor/provider-key.ts";
export { adapterEntry, inPlaceEntry } from "./entry.ts";
export type { McpServer } from "./host/mcp-servers.ts";
export type { EnvironmentCheck, ExecutionResult, Model } from "./host/types.ts";
export { HOME_MOUNT } from "./prepare/environment/mounts.ts";
export { BEDROCK_VARIABLES } from "./prepare/inherit/allowlist.ts";
export { allowedEnv } from "./prepare/inherit/name-rules.ts";
export { ConfigError, quote } from "./settings/config-error.ts";
export type { EarlierSetting } from "./settings/earlier-setting.ts";
export { type Field, named, type Raw } from "./settings/field.ts";
