import { type AgentCli, type CliParser, type CliPlan, type CliTurn, HOME_MOUNT } from "@paperclip-k8s/paperclip";
import { argv } from "./claude/argv.ts";
import { builtIn } from "./claude/built-in.ts";
import { classify } from "./claude/classify.ts";
import { earlierHooks } from "./claude/earlier-seeds.ts";
import { earlierTranscripts } from "./claude/earlier-sessions.ts";
import { earlier } from "./claude/earlier-settings.ts";
import { checkModel, createListModels, models } from "./claude/models.ts";
import { createParser } from "./claude/parse.ts";
import { billing, isBedrockModel, keyChecks, usesBedrock } from "./claude/provider.ts";
import { quietStart } from "./claude/quiet-start.ts";
import { accountSettings, mcpConfig, settingsFile, toolOutputFilter } from "./claude/run-files.ts";
import { docs, type OwnSettings, ownSettings } from "./claude/settings.ts";
import { END_AFTER_SEC, finalLinePattern, takenBackBy } from "./claude/turn-result.ts";
import { variables } from "./claude/variables.ts";

/** Below HOME. */
const CONFIG = ".claude";
/** Below any folder that Claude Code is pointed at. */
const SKILLS = ".claude/skills";

/** Claude Code as the host layer sees it. */
export const claude: AgentCli<OwnSettings> = {
  type: "claude_k8s",
  label: "Claude Code on Kubernetes",
  container: "claude",
  jobPrefix: "agent-claude-",
  settings: { own: ownSettings, docs, checkModel, earlier },
  variables,
  builtIn,
  skillsFolder: SKILLS,
  models,
  listModels: createListModels(),
  // It compacts its own context: the host needs no limits for a session.
  sessionManagement: {
    supportsSessionResume: true,
    nativeContextManagement: "confirmed",
    defaultSessionCompaction: { enabled: true, maxSessionRuns: 0, maxRawInputTokens: 0, maxSessionAgeHours: 0 },
  },
  finalLine: { pattern: finalLinePattern, endAfterSec: END_AFTER_SEC, takenBackBy },
  bundle: { skills: SKILLS, instructions: "agent-instructions.md" },
  sessionId: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  usesMcpServers: true,
  state: {
    parts: [{ kind: "files", path: `${CONFIG}/projects` }],
    version: (command) => [command ?? "claude", "--version"],
    // With a config directory of its own, Claude Code looks for the last of them there.
    seeds: [
      { path: ".claude/settings.json", without: earlierHooks },
      { path: ".claude/.credentials.json" },
      { path: ".claude.json", to: `${CONFIG}/.claude.json` },
    ],
    imports: earlierTranscripts,
    isElsewhere: ({ env }) => Boolean(env.CLAUDE_CONFIG_DIR),
  },
  plan,
  billing,
  checks: ({ known }) => keyChecks(known),
  createParser: () => createCliParser(),
};

function plan(turn: CliTurn<OwnSettings>): CliPlan {
  const { config, bundle, without } = turn;
  const { enableRtk, rtkMaxOutputBytes, maxTurnsPerRun } = config.own;
  const filter = enableRtk ? toolOutputFilter(rtkMaxOutputBytes) : null;
  const account = config.account ? [accountSettings(config.env)] : [];
  const settings = settingsFile(...(filter === null ? [] : [filter.settings]), ...account);
  const mcp = mcpConfig(turn.mcpServers);
  const { model, note } = modelFor(turn);
  return {
    argv: argv({
      command: config.command ?? undefined,
      sessionId: turn.sessionId,
      model,
      effort: without.includes("--effort") ? null : config.effort,
      maxTurns: maxTurnsPerRun,
      skipPermissions: config.dangerouslySkipPermissions,
      instructionsFile: bundle?.instructionsFile,
      bundleFolder: bundle?.folder,
      mcpConfig: mcp === null ? null : { file: mcp.file },
      settings: settings === null ? null : { file: settings.file },
      extraArgs: config.extraArgs,
    }),
    files: { ...filter?.files, ...settings?.files, ...mcp?.files },
    plainEnv: {
      DISABLE_AUTOUPDATER: "1",
      ...quietStart(turn),
      // Set although it is the default: a value inherited from the server's pod would name another folder.
      ...(config.env.CLAUDE_CONFIG_DIR ? {} : { CLAUDE_CONFIG_DIR: `${HOME_MOUNT}/${CONFIG}` }),
      ...filter?.env,
    },
    secretEnv: agentHeader(turn),
    notes: [
      ...(note === null ? [] : [note]),
      ...(filter === null ? [] : [`tool output above ${rtkMaxOutputBytes} bytes is shortened${filterIsOff(config.extraArgs)}`]),
      ...(turn.mcpServers.length === 0 ? [] : [`tool servers: ${turn.mcpServers.map(({ name }) => name).join(", ")}`]),
      ...(config.env.CLAUDE_CONFIG_DIR ? ["CLAUDE_CONFIG_DIR is the agent's own: its sessions stay there"] : []),
    ],
  };
}

/** Bedrock knows only its own ids; for any other the CLI's default is used. */
function modelFor({ config, env }: CliTurn): { readonly model: string | null; readonly note: string | null } {
  const { model } = config;
  if (model === null || !usesBedrock(env.values) || isBedrockModel(model)) return { model, note: null };
  return { model: null, note: `model ${model} is no Bedrock id and is left to the CLI` };
}

const filterIsOff = (extraArgs: readonly string[]): string =>
  extraArgs.some((arg) => /^--settings(=|$)/.test(arg)) ? ", unless the --settings of Extra args take its place" : "";

/** As the host's own adapter does it: so the provider's records show which agent made a request. A value that is only known by reference is left alone. */
function agentHeader({ env, agentId }: CliTurn): Record<string, string> {
  const name = "ANTHROPIC_CUSTOM_HEADERS";
  const own = env.values[name];
  if (own === undefined && env.names.has(name)) return {};
  const header = `X-Anthropic-Agent-Id: ${agentId.replace(/[^\x20-\x7e]/g, "")}`;
  return { [name]: own ? `${own}\n${header}` : header };
}

function createCliParser(): CliParser {
  const parser = createParser();
  return {
    push: (line) => parser.push(line),
    report() {
      const run = parser.run();
      const { result, tokens } = run;
      return {
        sessionId: run.sessionId,
        text: run.lastText,
        model: run.model,
        inputTokens: tokens.input + tokens.cacheWrite,
        cachedInputTokens: tokens.cacheRead,
        outputTokens: tokens.output,
        costUsd: run.costUsd,
        errors: result === null || result.succeeded ? [] : [...result.errors],
        recovered: [],
        finished: result !== null,
        succeeded: result?.succeeded ?? false,
        usedTools: run.usedTools,
        details: result === null ? {} : { ...result.kept, total_cost_usd: run.costUsd, ...stopReason(result.subtype, result.stopReason) },
        events: run.events,
      };
    },
    fault: (stderr) => classify(parser.run(), stderr, Date.now()),
  };
}

/** The names under which the host looks for the reason. */
function stopReason(subtype: string, reason: string | null): Record<string, string> {
  if (subtype === "error_max_turns") return { stopReason: "max_turns_exhausted" };
  return reason === "refusal" ? { stopReason: "refusal" } : {};
}
