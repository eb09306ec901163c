import type { Engine } from "@paperclip-k8s/engine";
import type { AgentCli } from "./agent-cli.ts";
import { parseConfig } from "./config.ts";
import { configurationDoc } from "./configuration-doc.ts";
import { execute } from "./execute.ts";
import type { EnvironmentCheck, ServerAdapter } from "./host.ts";
import { sessionCodec } from "./session.ts";

export interface AdapterOptions {
  readonly engine: Engine;
  readonly serverEnv?: NodeJS.ProcessEnv;
  /** How often a host without abort signals is asked for the run's status. */
  readonly pollMs?: number;
}

/** The host's adapter module for one agent CLI. */
export function createAdapter(cli: AgentCli, options: AdapterOptions): ServerAdapter {
  const serverEnv = options.serverEnv ?? process.env;
  return {
    type: cli.type,
    execute: (ctx) => execute(cli, ctx, { ...options, serverEnv }),
    testEnvironment: async ({ config }) => {
      const checks = checkConfig(config, serverEnv);
      const status = checks.some((check) => check.level === "error") ? "fail" : "pass";
      return { adapterType: cli.type, status, checks, testedAt: new Date().toISOString() };
    },
    sessionCodec,
    models: [...cli.models],
    agentConfigurationDoc: configurationDoc(cli),
    supportsLocalAgentJwt: true,
    supportsInstructionsBundle: true,
    instructionsPathKey: "instructionsFilePath",
    requiresMaterializedRuntimeSkills: true,
    hasOutOfProcessLiveness: true,
  };
}

function checkConfig(config: Record<string, unknown>, serverEnv: NodeJS.ProcessEnv): EnvironmentCheck[] {
  try {
    const parsed = parseConfig(config, serverEnv);
    return [
      {
        code: "config_valid",
        level: "info",
        message: `Settings are valid; agents run as ${parsed.image} in namespace ${parsed.namespace}.`,
      },
    ];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ code: "config_invalid", level: "error", message, hint: "Correct the named field in the agent's settings." }];
  }
}
