import { dirname, normalize } from "node:path/posix";
import type { EarlierSession, ImportSource, RowRule } from "@paperclip-k8s/paperclip";

/** Below HOME. */
export const DATABASE = ".local/share/opencode/opencode.db";

const SESSION_ID = /^ses_[A-Za-z0-9]{1,60}$/;

/** What makes up a session, in the order in which rows can be added. Sessions of sub-agents, logins and shares of sessions are not taken. */
const ROWS: readonly RowRule[] = [
  { table: "__drizzle_migrations" },
  { table: "migration" },
  { table: "data_migration" },
  { table: "project", column: "id", from: "project_id" },
  ...["message", "part", "todo", "session_message", "session_input", "session_context_epoch"].map((table) => ({
    table,
    column: "session_id",
  })),
  { table: "event_sequence", column: "aggregate_id" },
  { table: "event", column: "aggregate_id" },
];

/** Databases that the adapters before this one used, except those on an agent's own claim, with sessions of many tasks and agents. */
export const earlierDatabases = (session: EarlierSession): ImportSource[] => sessionRows(session, placesOf(session));

/** The rows of one session, wherever one of these databases has them; `under`: a folder above them that is not on the volume. */
export function sessionRows(
  { sessionId, cwd }: Pick<EarlierSession, "sessionId" | "cwd">,
  databases: readonly string[],
  under?: string,
): ImportSource[] {
  if (!SESSION_ID.test(sessionId)) return [];
  return databases.map((path) => ({
    kind: "rows",
    path,
    ...(under === undefined ? {} : { under }),
    to: DATABASE,
    root: { table: "session", column: "id", value: sessionId },
    rows: ROWS,
    set: {
      session: { directory: cwd, parent_id: null, workspace_id: null, share_url: null },
      project: { name: null, icon_url: null, icon_url_override: null, icon_color: null, sandboxes: "[]", commands: null },
    },
  }));
}

/** One per task in a folder of the agent, one per isolated workspace of the agent, one that the agent's settings name, the one of the shared HOME. */
function placesOf({ dataPath, volume, companyId, agentId, taskKey, env, note }: EarlierSession): string[] {
  const own = `${volume}/.opencode-db/${companyId}/${agentId}`;
  const task = (taskKey ?? "")
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "_")
    .slice(0, 128);
  const named = namedPlace(env.OPENCODE_DB, [own, dirname(`${dataPath}/${DATABASE}`)]);
  if (named === null)
    note(`the agent's OPENCODE_DB is not looked into for the session: it is not in a folder that only earlier adapters used`);
  return [
    ...(named ?? []),
    ...(task === "" ? [] : [`${own}/${task}/opencode.db`]),
    `${own}/isolation/*/opencode.db`,
    `${dataPath}/${DATABASE}`,
  ];
}

/**
 * The agent writes its settings, and its pods write its workspace: a database counts only in the folders of the earlier adapters, which no pod of
 * today gets unless the operator mounts them. Null = it is elsewhere.
 */
function namedPlace(path: string | undefined, folders: readonly string[]): string[] | null {
  if (path === undefined || path === "") return [];
  const isThere = normalize(path) === path && !path.includes("*") && folders.some((folder) => path.startsWith(`${folder}/`));
  return isThere ? [path] : null;
}
