import type { Engine } from "@paperclip-k8s/engine";
import type { AgentCli } from "./agent-cli.ts";
import { formSchema, parseConfig } from "./config.ts";
import { configurationDoc } from "./configuration-doc.ts";
import { execute, inherit } from "./execute.ts";
import type { EnvironmentCheck, FormField, ServerAdapter, SkillContext } from "./host.ts";
import { sessionCodec } from "./session.ts";
import { listSkills, syncSkills } from "./skills/snapshot.ts";

export interface AdapterOptions {
  readonly engine: Engine;
  readonly serverEnv?: NodeJS.ProcessEnv;
  /** How often a host without abort signals is asked for the run's status. */
  readonly pollMs?: number;
}

/** The host's adapter module for one agent CLI. */
export function createAdapter(cli: AgentCli, options: AdapterOptions): ServerAdapter {
  const serverEnv = options.serverEnv ?? process.env;
  const dataPath = (ctx: SkillContext) => parseConfig(ctx.config, serverEnv, cli.type).dataPath;
  return {
    type: cli.type,
    execute: (ctx) => execute(cli, ctx, { ...options, serverEnv }),
    testEnvironment: async ({ config }) => {
      const checks = await checkSettings(cli, config, serverEnv);
      return { adapterType: cli.type, status: statusOf(checks), checks, testedAt: new Date().toISOString() };
    },
    sessionCodec,
    sessionManagement: cli.sessionManagement,
    models: [...cli.models],
    listModels: () => cli.listModels(),
    listSkills: (ctx) => listSkills(ctx, dataPath(ctx)),
    syncSkills: (ctx, desired) => syncSkills(ctx, desired, dataPath(ctx)),
    getConfigSchema: () => ({ fields: formSchema(cli.type).fields.map((field): FormField => ({ ...field })) }),
    agentConfigurationDoc: configurationDoc(cli),
    supportsLocalAgentJwt: true,
    supportsInstructionsBundle: true,
    instructionsPathKey: "instructionsFilePath",
    requiresMaterializedRuntimeSkills: true,
    hasOutOfProcessLiveness: true,
  };
}

/** Settings, and what they lead to together with the server's own pod; nothing is created. */
async function checkSettings(cli: AgentCli, raw: Record<string, unknown>, serverEnv: NodeJS.ProcessEnv): Promise<EnvironmentCheck[]> {
  try {
    const config = parseConfig(raw, serverEnv, cli.type);
    const { namespace, image, claim, warnings } = await inherit(config, serverEnv);
    const found = `Agents run as ${image} in namespace ${namespace}, with claim ${claim.name} at ${claim.mountPath}.`;
    const warned = [...config.warnings, ...warnings].map((message) => ({ code: "config_warning", level: "warn", message }) as const);
    return [{ code: "config_valid", level: "info", message: found }, ...warned];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ code: "config_invalid", level: "error", message, hint: "Correct the named field in the agent's settings." }];
  }
}

function statusOf(checks: readonly EnvironmentCheck[]): "pass" | "warn" | "fail" {
  if (checks.some((check) => check.level === "error")) return "fail";
  return checks.some((check) => check.level === "warn") ? "warn" : "pass";
}
