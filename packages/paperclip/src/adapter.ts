import type { AgentCli } from "./agent-cli/agent-cli.ts";
import { testEnvironment } from "./doctor/test-environment.ts";
import { type ExecuteOptions, execute } from "./execute.ts";
import { type Handover, runDetachable } from "./handover/drain/detachable-run.ts";
import { RunRegistry } from "./handover/drain/run-registry.ts";
import { PROVIDED_BY } from "./host/keys.ts";
import type { ServerAdapter, SkillContext } from "./host/types.ts";
import { formFacts } from "./policy/form-facts.ts";
import { sessionCodec } from "./prepare/session.ts";
import { skillSettings } from "./prepare/skills/skill-settings.ts";
import { listSkills, syncSkills } from "./prepare/skills/snapshot.ts";
import { configurationDoc } from "./settings/documents.ts";
import { formSchema } from "./settings/form.ts";

interface AdapterOptions extends Omit<ExecuteOptions, "serverEnv" | keyof Handover> {
  readonly serverEnv?: NodeJS.ProcessEnv;
  /** Through which this adapter's runs can be detached. */
  readonly registry?: RunRegistry;
}

/** The host's adapter module for one agent CLI. */
export function createAdapter(cli: AgentCli, options: AdapterOptions): ServerAdapter {
  const serverEnv = options.serverEnv ?? process.env;
  const registry = options.registry ?? new RunRegistry();
  const skills = (ctx: SkillContext) => skillSettings(cli, ctx.config, serverEnv);
  return {
    type: cli.type,
    execute: (ctx) => runDetachable(registry, ctx, serverEnv, (handover) => execute(cli, ctx, { ...options, serverEnv, ...handover })),
    testEnvironment: (ctx) => testEnvironment(cli, ctx, { engine: options.engine, serverEnv }),
    sessionCodec,
    ...(cli.inPlace === undefined ? { sessionManagement: cli.sessionManagement } : asBuiltIn(cli)),
    models: [...cli.models],
    listModels: () => cli.listModels(serverEnv),
    listSkills: async (ctx) => listSkills(ctx, await skills(ctx)),
    syncSkills: async (ctx, desired) => syncSkills(ctx, desired, await skills(ctx)),
    getConfigSchema: async () => ({ ...formSchema(cli, await formFacts(serverEnv, cli)), providedBy: PROVIDED_BY }),
    agentConfigurationDoc: configurationDoc(cli),
    supportsLocalAgentJwt: true,
    supportsInstructionsBundle: true,
    instructionsPathKey: "instructionsFilePath",
    requiresMaterializedRuntimeSkills: true,
    hasOutOfProcessLiveness: true,
  };
}

/** What the host's pages and runs rely on for a built-in type. */
function asBuiltIn({ builtIn }: AgentCli): Pick<ServerAdapter, "runtimeToolDelivery" | "loginCapability"> {
  const { runtimeToolDelivery, login } = builtIn ?? {};
  return { ...(runtimeToolDelivery && { runtimeToolDelivery }), ...(login && { loginCapability: login }) };
}
