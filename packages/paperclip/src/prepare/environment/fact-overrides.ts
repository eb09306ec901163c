// Which of the host's facts an agent's own `env` may replace. Agents act on these values: a fixed one must not make a run speak for another
// run, task or agent.

/** They describe what is around the agent; a wrong one harms its own run only. */
export const OVERRIDABLE: ReadonlySet<string> = new Set([
  "PAPERCLIP_WORKSPACE_CWD",
  "PAPERCLIP_WORKSPACE_SOURCE",
  "PAPERCLIP_WORKSPACE_STRATEGY",
  "PAPERCLIP_WORKSPACE_REPO_URL",
  "PAPERCLIP_WORKSPACE_REPO_REF",
  "PAPERCLIP_WORKSPACE_BRANCH",
  "PAPERCLIP_WORKSPACE_WORKTREE_PATH",
  "PAPERCLIP_WORKSPACES_JSON",
  "PAPERCLIP_RUNTIME_SERVICE_INTENTS_JSON",
  "PAPERCLIP_RUNTIME_SERVICES_JSON",
  "PAPERCLIP_RUNTIME_PRIMARY_URL",
  "AGENT_HOME",
]);

const WHO = "it says who the run is";
const TASK = "it belongs to the run's task";
const REASON = "it says why the run was started";

/** The others, and why each run has its own or none. */
export const FIXED: Readonly<Record<string, string>> = {
  PAPERCLIP_AGENT_ID: WHO,
  PAPERCLIP_COMPANY_ID: WHO,
  PAPERCLIP_RUN_ID: WHO,
  PAPERCLIP_API_KEY: "it is the run's token",
  PAPERCLIP_TASK_ID: TASK,
  PAPERCLIP_ISSUE_WORK_MODE: TASK,
  PAPERCLIP_LINKED_ISSUE_IDS: TASK,
  PAPERCLIP_WORKSPACE_ID: TASK,
  PAPERCLIP_WAKE_REASON: REASON,
  PAPERCLIP_WAKE_COMMENT_ID: REASON,
  PAPERCLIP_WAKE_PAYLOAD_JSON: REASON,
  PAPERCLIP_APPROVAL_ID: REASON,
  PAPERCLIP_APPROVAL_STATUS: REASON,
};

type Values = Readonly<Record<string, string>>;

export const isFixed = (name: string): boolean => Object.hasOwn(FIXED, name);

/** For the log: which facts the agent's settings replace, and which they may not. Equal values need no word. */
export function overrideWarnings(env: Values, facts: Values): string[] {
  const differs = Object.keys(env).filter((name) => env[name] !== facts[name]);
  const used = differs.filter((name) => OVERRIDABLE.has(name) && Object.hasOwn(facts, name));
  const refused = differs.filter(isFixed);
  return [
    ...(used.length === 0 ? [] : [`the agent's own setting is used instead of the host's value: ${used.map(setting).join(", ")}`]),
    ...(refused.length === 0
      ? []
      : [`the agent's own setting is not used: ${refused.map((name) => `${setting(name)} (${FIXED[name]})`).join(", ")}`]),
  ];
}

const setting = (name: string): string => `env.${name}`;
