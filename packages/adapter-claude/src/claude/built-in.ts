import type { BuiltInSetting, BuiltInType, Raw } from "@paperclip-k8s/paperclip";
import { foldersOfServer, leftOut, quote } from "@paperclip-k8s/paperclip";
import { projectFolder } from "./earlier-sessions.ts";

/** The model of agents that name none, as the host has it since 2026.916; before, it was left to the CLI. */
const DEFAULT_MODEL = "claude-opus-5";

const isOn = (value: string | undefined): boolean => value === "1" || value === "true";

const EFFORTS = ["modelReasoningEffort", "reasoningEffort", "thinkingEffort"];

const ACP = "the CLI runs without the Agent Client Protocol";

/** The modes in which its ACP server asks before it acts; nobody is there to answer, so what needs a permission is not done. */
const ASKING = ["approve-reads", "deny-all", "default"];

/** Its default engine speaks the Agent Client Protocol and has settings that the CLI engine does not look at. */
const isCliEngine = ({ engine }: Raw): boolean => wordOf(engine).toLowerCase() === "cli";

const wordOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");

/** A setting of the default engine only. Of several that mean the same, the first one set counts. */
const ofDefaultEngine = (keys: readonly string[], doc: string, set: (word: string) => Raw): BuiltInSetting[] =>
  keys.map((key) => ({
    key,
    becomes: "mapped",
    doc,
    translate(value, { raw }) {
      if (isCliEngine(raw)) return { warning: `${quote(value)} is left out: with engine "cli" the built-in adapter does not look at it` };
      return keys.find((each) => wordOf(raw[each]) !== "") === key ? { set: set(wordOf(value)) } : {};
    },
  }));

const settings: readonly BuiltInSetting[] = [
  {
    key: "engine",
    becomes: "mapped",
    doc: "the CLI is run, whatever it says; `acp` is named in a warning",
    translate: (value) => (value === "acp" ? { warning: `"acp" is left out: ${ACP}` } : {}),
  },
  {
    key: "model",
    becomes: "kept",
    doc: `as it is; blank: the policy's, else \`${DEFAULT_MODEL}\` as at the host since 2026.916 (before: the CLI's own), unless ANTHROPIC_MODEL, Bedrock or Vertex is set`,
  },
  foldersOfServer(["CLAUDE_CONFIG_DIR"]),
  { key: "effort", becomes: "kept", doc: "as it is" },
  ...ofDefaultEngine(
    EFFORTS,
    "as `effort`, and before it, as in the default engine; left out with a warning with engine `cli`",
    (effort) => ({ effort }),
  ),
  leftOut("variant", "Claude Code has `effort`"),
  { key: "maxTurnsPerRun", becomes: "kept", doc: "as it is" },
  {
    key: "chrome",
    becomes: "left out",
    doc: "no browser that the CLI could use is in the pod",
    translate: (value) =>
      value === true ? { warning: `${quote(value)} is left out: no browser that the CLI could use is in the pod` } : {},
  },
  ...["mode", "acpMode"].map((key) => leftOut(key, "each task has one session, which its runs resume", ["persistent"])),
  {
    key: "dangerouslySkipPermissions",
    becomes: "kept",
    doc: "as it is, and off with some modes of `permissionMode`; off counts with the default engine too, which does not look at it in the server",
  },
  ...ofDefaultEngine(
    ["permissionMode", "acpPermissionMode"],
    "`approve-reads`, `deny-all` and `default` switch `dangerouslySkipPermissions` off: what needs a permission is refused by the CLI. Left out with a warning with engine `cli`",
    (mode) => (ASKING.includes(mode) ? { dangerouslySkipPermissions: false } : {}),
  ),
  ...["nonInteractivePermissions", "acpNonInteractivePermissions"].map((key) =>
    leftOut(key, "the CLI refuses what it would have to ask for", ["deny"]),
  ),
  ...["agentCommand", "acpAgentCommand", "agent", "fastMode", "coalescePlaceholderToolUpdates"].map((key) => leftOut(key, ACP, [false])),
  ...["stateDir", "acpStateDir"].map((key) => leftOut(key, "sessions are kept on the shared volume, one per task")),
  ...["warmHandleIdleMs", "acpWarmHandleIdleMs"].map((key) => leftOut(key, "each run has a pod of its own", [0])),
];

/** The host's own adapter for Claude Code. */
export const builtIn: BuiltInType = {
  type: "claude_local",
  settings,
  usual({ raw, serverEnv, hasDefaultModel }) {
    const env = { ...serverEnv, ...(raw.env as Record<string, string> | undefined) };
    const isElsewhere = isOn(env.CLAUDE_CODE_USE_BEDROCK) || isOn(env.CLAUDE_CODE_USE_VERTEX) || Boolean(env.ANTHROPIC_BEDROCK_BASE_URL);
    return !hasDefaultModel || isElsewhere || env.ANTHROPIC_MODEL ? {} : { model: DEFAULT_MODEL };
  },
  accountVariables: ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"],
  runtimeToolDelivery: "native_mcp",
  // The host runs the command and reads its output itself; it only looks whether the type has one of this kind.
  login: {
    panelMode: "submitted_browser_code",
    timeoutPolicy: "fixed",
    completionClaim: "storedSessionId",
    getCommand: () => "claude setup-token",
    parsePrompt: () => null,
  },
  sessions: ({ sessionId, cwd, madeIn, serverEnv, serverHome }) => {
    // Not where the agent's own settings say: they could name another one's folder.
    const folder = serverEnv.CLAUDE_CONFIG_DIR || `${serverHome}/.claude`;
    return [
      {
        kind: "files",
        path: `${folder}/projects/*/${sessionId}.jsonl`,
        under: folder,
        first: [madeIn ?? cwd, cwd].map(projectFolder),
        beside: [sessionId],
        to: `.claude/projects/${projectFolder(cwd)}`,
      },
    ];
  },
};
