import type { BuiltInSetting, BuiltInType } from "@paperclip-k8s/paperclip";
import { foldersOfServer, leftOut, quote } from "@paperclip-k8s/paperclip";
import { projectFolder } from "./earlier-sessions.ts";

/** The model of agents that name none, as the host has it since 2026.916; before, it was left to the CLI. */
const DEFAULT_MODEL = "claude-opus-5";

const isOn = (value: string | undefined): boolean => value === "1" || value === "true";

const ACP = "the CLI runs without the Agent Client Protocol";

/** The modes in which its ACP server asks before it acts; nobody is there to answer, so what needs a permission is not done. */
const ASKING = ["approve-reads", "deny-all", "default"];

const permissionMode = (key: string): BuiltInSetting => ({
  key,
  becomes: "mapped",
  doc: "`approve-reads` and `deny-all` switch `dangerouslySkipPermissions` off: what needs a permission is refused by the CLI",
  translate: (value) => (ASKING.includes(String(value)) ? { set: { dangerouslySkipPermissions: false } } : {}),
});

const effort = (key: string): BuiltInSetting => ({
  key,
  becomes: "mapped",
  doc: "as `effort`, where that is not set",
  translate: (value, { raw }) => (value && !raw.effort ? { set: { effort: value } } : {}),
});

const settings: readonly BuiltInSetting[] = [
  {
    key: "engine",
    becomes: "mapped",
    doc: "the CLI is run, whatever it says; `acp` is named in a warning",
    translate: (value) => (value === "acp" ? { warning: `"acp" is left out: ${ACP}` } : {}),
  },
  {
    key: "model",
    becomes: "mapped",
    alsoUnset: true,
    doc: `as it is; blank: \`${DEFAULT_MODEL}\` as at the host since 2026.916 (before: the CLI's own), unless ANTHROPIC_MODEL, Bedrock or Vertex is set`,
    translate(value, { raw, serverEnv, hasDefaultModel }) {
      if (typeof value === "string" && value.trim() !== "") return { set: { model: value } };
      const env = { ...serverEnv, ...(raw.env as Record<string, string> | undefined) };
      const isElsewhere = isOn(env.CLAUDE_CODE_USE_BEDROCK) || isOn(env.CLAUDE_CODE_USE_VERTEX) || Boolean(env.ANTHROPIC_BEDROCK_BASE_URL);
      return !hasDefaultModel || isElsewhere || env.ANTHROPIC_MODEL ? {} : { set: { model: DEFAULT_MODEL } };
    },
  },
  foldersOfServer(["CLAUDE_CONFIG_DIR"]),
  { key: "effort", becomes: "kept", doc: "as it is" },
  { key: "maxTurnsPerRun", becomes: "kept", doc: "as it is" },
  {
    key: "chrome",
    becomes: "left out",
    doc: "no browser that the CLI could use is in the pod",
    translate: (value) =>
      value === true ? { warning: `${quote(value)} is left out: no browser that the CLI could use is in the pod` } : {},
  },
  effort("modelReasoningEffort"),
  effort("reasoningEffort"),
  ...["mode", "acpMode"].map((key) => leftOut(key, "each task has one session, which its runs resume", ["persistent"])),
  ...["permissionMode", "acpPermissionMode"].map(permissionMode),
  ...["nonInteractivePermissions", "acpNonInteractivePermissions"].map((key) =>
    leftOut(key, "the CLI refuses what it would have to ask for", ["deny"]),
  ),
  ...["agentCommand", "acpAgentCommand", "agent", "fastMode", "coalescePlaceholderToolUpdates"].map((key) => leftOut(key, ACP)),
  ...["stateDir", "acpStateDir"].map((key) => leftOut(key, "sessions are kept on the shared volume, one per task")),
  ...["warmHandleIdleMs", "acpWarmHandleIdleMs"].map((key) => leftOut(key, "each run has a pod of its own", [0])),
];

/** The host's own adapter for Claude Code. */
export const builtIn: BuiltInType = {
  type: "claude_local",
  settings,
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
