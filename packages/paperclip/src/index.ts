export { type AdapterOptions, createAdapter } from "./adapter.ts";
export type { AgentCli, CliFault, CliParser, CliPlan, CliReport, CliTurn } from "./agent-cli.ts";
export type { AgentConfig } from "./config.ts";
export { ConfigError } from "./config-error.ts";
export type { ExecutionContext, ExecutionResult, Model, ServerAdapter } from "./host.ts";
