import type { AgentCli, CliParser, CliPlan, CliTurn } from "@paperclip-k8s/paperclip";
import { argv } from "./opencode/argv.ts";
import { builtIn } from "./opencode/built-in.ts";
import { classify } from "./opencode/classify.ts";
import { configLayer } from "./opencode/config-layer.ts";
import { createListModels } from "./opencode/discover-models.ts";
import { earlierGrants } from "./opencode/earlier-seeds.ts";
import { DATABASE, earlierDatabases } from "./opencode/earlier-sessions.ts";
import { earlier } from "./opencode/earlier-settings.ts";
import { finalLinePattern } from "./opencode/events.ts";
import { checkModel, models, providerOf } from "./opencode/models.ts";
import { createParser } from "./opencode/parse.ts";
import { keyChecks } from "./opencode/provider-key.ts";
import { type OwnSettings, ownSettings } from "./opencode/settings.ts";
import { fastStart } from "./opencode/start/fast-start.ts";
import { hasOwnTitle, sessionTitle } from "./opencode/start/session-title.ts";
import { showStderr } from "./opencode/stderr.ts";
import { variables } from "./opencode/variables.ts";

/** The prefix of earlier adapters, so that their claims can still be used. */
const CLAIM_PREFIX = "opencode-db-";

/** OpenCode as the host layer sees it. */
export const opencode: AgentCli<OwnSettings> = {
  type: "opencode_k8s",
  label: "OpenCode on Kubernetes",
  container: "opencode",
  jobPrefix: "agent-opencode-",
  settings: {
    earlier,
    own: ownSettings,
    checkModel,
    docs: {
      model: "passed to the CLI, as `provider/model`",
      effort: "reasoning effort, passed to the CLI as `--variant`; `thinkingEffort` and `variant` mean the same, the first one set counts",
      agentDbMode: `OpenCode's sessions. \`portable\`: carried in and out on the shared volume, one per task; \`dedicated_pvc\`: on one ReadWriteOnce claim per agent, \`${CLAIM_PREFIX}<agent id>\`, so that its runs take turns; \`ephemeral\`: nothing is kept`,
    },
  },
  variables,
  builtIn,
  // OpenCode looks for skills where Claude Code does.
  skillsFolder: ".claude/skills",
  models,
  listModels: createListModels(),
  // As the host has it for its own OpenCode adapter.
  sessionManagement: {
    supportsSessionResume: true,
    nativeContextManagement: "unknown",
    defaultSessionCompaction: { enabled: true, maxSessionRuns: 200, maxRawInputTokens: 2_000_000, maxSessionAgeHours: 72 },
  },
  // OpenCode may go on after such a line (compaction), so it is kept, not acted upon.
  finalLine: { pattern: finalLinePattern, endAfterSec: null },
  state: {
    // All its sessions are in this one database; the rest of the folder is logs, caches and the login.
    parts: [{ kind: "sqlite", path: DATABASE }],
    // Set although it is the default: builds of other channels add the channel's name.
    env: (home) => ({ OPENCODE_DB: `${home}/${DATABASE}` }),
    // The same file as in earlier adapters.
    claim: { prefix: CLAIM_PREFIX, env: (folder) => ({ OPENCODE_DB: `${folder}/opencode.db` }) },
    version: (command) => [command ?? "opencode", "--version"],
    imports: earlierDatabases,
    seeds: [{ path: ".config/opencode", without: earlierGrants }, { path: ".local/share/opencode/auth.json" }],
  },
  plan,
  billing({ values, names }, model) {
    const provider = providerOf(model);
    const routed = names.has("OPENROUTER_API_KEY") || /openrouter/i.test(values.OPENAI_BASE_URL ?? "");
    return { provider, biller: routed ? "openrouter" : (provider ?? "unknown"), type: "unknown" };
  },
  checks: ({ config, known }) => keyChecks(config.model, known),
  createParser: () => createCliParser(),
  showStderr,
};

async function plan({ config, env, maybeSet, sessionId, title, promptBytes }: CliTurn<OwnSettings>): Promise<CliPlan> {
  const { model, effort: variant, extraArgs, dangerouslySkipPermissions, own } = config;
  const layer = configLayer({ model, dangerouslySkipPermissions, env: env.values });
  const given = own.titleByModel || hasOwnTitle(extraArgs) ? null : sessionTitle(title);
  const [command = "opencode", ...args] = argv({
    command: config.command ?? undefined,
    sessionId,
    title: given,
    model,
    variant,
    extraArgs,
  });
  const names = new Set([...env.names, ...maybeSet]);
  const run = { model, extraArgs, settings: layer.settings, names, values: env.values, promptBytes };
  const fast = own.fastStart ? await fastStart(run) : null;
  return {
    argv: [command, ...args],
    ...(fast !== null && { files: fast.files, defaults: fast.defaults }),
    plainEnv: { ...fast?.plainEnv, ...layer.env.plain },
    secretEnv: layer.env.secret,
    notes: layer.notes,
  };
}

function createCliParser(): CliParser {
  const parser = createParser();
  return {
    push: (line) => parser.push(line),
    report() {
      const result = parser.result();
      const model = result.model !== null && result.provider !== null ? `${result.provider}/${result.model}` : null;
      return {
        sessionId: result.sessionId,
        text: result.lastText,
        model,
        inputTokens: result.tokens.input + result.tokens.cacheWrite,
        cachedInputTokens: result.tokens.cacheRead,
        outputTokens: result.tokens.output + result.tokens.reasoning,
        costUsd: result.steps + result.subAgentSteps === 0 ? null : result.costUsd,
        errors: result.errors.map((error) => error.message),
        recovered: result.recovered.map((error) => error.message),
        finished: result.finishReason === "stop",
        usedTools: result.usedTools,
        events: result.events,
      };
    },
    fault: (stderr) => classify(parser.result(), stderr),
  };
}
