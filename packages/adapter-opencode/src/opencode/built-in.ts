import { basename } from "node:path/posix";
import { type BuiltInType, foldersOfServer } from "@paperclip-k8s/paperclip";
import { DATABASE, sessionRows } from "./earlier-sessions.ts";

/** The host's own adapter for OpenCode. */
export const builtIn: BuiltInType = {
  type: "opencode_local",
  settings: [
    foldersOfServer(["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_DB"]),
    { key: "variant", becomes: "mapped", doc: "as `effort`, in whose place it counts", translate: (value) => ({ set: { effort: value } }) },
  ],
  accountVariables: ["OPENROUTER_API_KEY", "OPENCODE_CONFIG_CONTENT", "OPENCODE_DISABLE_PROJECT_CONFIG"],
  runtimeToolDelivery: "environment",
  // The server's database has the sessions of all agents.
  sessions: ({ serverHome, serverEnv, ...session }) => {
    const data = serverEnv.XDG_DATA_HOME || `${serverHome}/.local/share`;
    return sessionRows(session, [`${data}/opencode/${basename(DATABASE)}`], data);
  },
};
