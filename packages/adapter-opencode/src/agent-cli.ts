import type { AgentCli, CliFault, CliParser } from "@paperclip-k8s/paperclip";
import { argv } from "./opencode/argv.ts";
import { classify, type FailureKind } from "./opencode/classify.ts";
import { configLayer } from "./opencode/config-layer.ts";
import { createModelDiscovery } from "./opencode/discover-models.ts";
import { describe } from "./opencode/events.ts";
import { finalLinePattern } from "./opencode/final-line.ts";
import { models } from "./opencode/models.ts";
import { createParser } from "./opencode/parse.ts";

/** OpenCode as the host layer sees it. */
export const opencode: AgentCli = {
  type: "opencode_k8s",
  label: "OpenCode on Kubernetes",
  container: "opencode",
  jobPrefix: "agent-opencode-",
  models,
  listModels: createModelDiscovery(models),
  // As the host has it for its own OpenCode adapter.
  sessionManagement: {
    supportsSessionResume: true,
    nativeContextManagement: "unknown",
    defaultSessionCompaction: { enabled: true, maxSessionRuns: 200, maxRawInputTokens: 2_000_000, maxSessionAgeHours: 72 },
  },
  // OpenCode may go on after such a line (compaction), so it is kept, not acted upon.
  finalLine: { pattern: finalLinePattern, endAfterSec: null },
  plan({ config, env, sessionId, stateDir }) {
    const { model, variant, extraArgs, dangerouslySkipPermissions } = config;
    const layer = configLayer({ model, dangerouslySkipPermissions, env, offline: env.OPENCODE_DISABLE_MODELS_FETCH !== undefined });
    const [command = "opencode", ...args] = argv({ command: config.command ?? undefined, sessionId, model, variant, extraArgs });
    return {
      argv: [command, ...args],
      // Its database and sessions stand here; a resumed session must find them again.
      plainEnv: { ...layer.env.plain, ...(stateDir === null ? {} : { XDG_DATA_HOME: stateDir }) },
      secretEnv: layer.env.secret,
      notes: layer.notes,
    };
  },
  billerOf: (env) => (env.OPENROUTER_API_KEY || /openrouter/i.test(env.OPENAI_BASE_URL ?? "") ? "openrouter" : null),
  describe,
  createParser: () => createCliParser(),
};

const FAULTS: Readonly<Record<FailureKind, CliFault["kind"]>> = {
  session_unknown: "unknown-session",
  auth: "auth",
  model_not_found: "model-not-found",
  quota: "quota",
  overloaded: "transient",
  context_overflow: "context-overflow",
  output_limit: "other",
  permission_rejected: "other",
  stopped_midway: "other",
  other: "other",
};

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
        costUsd: result.steps === 0 ? null : result.costUsd,
        errors: result.errors.map((error) => error.message),
        recovered: result.recovered.map((error) => error.message),
        finished: result.finishReason === "stop",
        events: result.lines - result.unknownLines,
      };
    },
    fault(stderr) {
      const failure = classify(parser.result(), stderr);
      return failure === null ? null : { kind: FAULTS[failure.kind], message: failure.message, retryAfterSec: failure.retryAfterSec };
    },
  };
}
