import { type Context, isBelow, recordOf, textOf, textsOf } from "../../host/context-values.ts";
import { LAUNCHER_DIR } from "./github.ts";
import { SCRATCH_NAMES, TEMP_NAMES } from "./mounts.ts";

// The host adds variables about its own machine to an agent's env. In a pod they would name folders that do not exist there, or what belongs to the server.

/** Always dropped: only the host sets them. */
const HOST_ONLY: ReadonlySet<string> = new Set([
  ...SCRATCH_NAMES,
  "PAPERCLIP_GITHUB_HOST_HOME",
  // The launchers in the pod ask at PAPERCLIP_API_URL, the relay, with the run's own token.
  "PAPERCLIP_GITHUB_BROKER_URL",
  "PAPERCLIP_GITHUB_BRIDGE_TOKEN",
  LAUNCHER_DIR,
  "PAPERCLIP_GITHUB_AUTH_MODE",
  "PAPERCLIP_GIT_METADATA_ROOTS",
  "PAPERCLIP_RUNNER_NETWORK_ROOTS",
  "PAPERCLIP_RUNNER_NETWORK_ACCESS",
]);

/** Dropped if they name files and sockets of the server's own git; a user may set them to others. */
const GIT_PATHS = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_ASKPASS", "SSH_ASKPASS", "SSH_AUTH_SOCK", "GIT_SSH"];

/** The server's own tokens, which 2026.916 adds to the env of each agent without a GitHub connection. Whether agents get them is the policy's to say. */
export const GITHUB_TOKENS = ["GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "PAPERCLIP_GIT_TOKEN"];

interface HostDiskInput {
  readonly env: Readonly<Record<string, string>>;
  readonly context: Context;
  readonly serverEnv: NodeJS.ProcessEnv;
  /** Whether the pod has this path of the shared volume. */
  readonly isMounted: (path: string) => boolean;
}

/** An agent's env without what the host put there about its own disk. */
export function withoutHostDisk(input: HostDiskInput): Record<string, string> {
  const path = userPath(input);
  const kept = Object.entries(input.env).filter(([name, value]) => name !== "PATH" && !isHosts(name, value, input));
  return { ...Object.fromEntries(kept), ...(path === null ? {} : { PATH: path }) };
}

function isHosts(name: string, value: string, { env, context, serverEnv, isMounted }: HostDiskInput): boolean {
  const launcher = textOf(env[LAUNCHER_DIR]);
  const isLaunchers = launcher !== null && isBelow(value, launcher);
  if (HOST_ONLY.has(name)) return true;
  if (GITHUB_TOKENS.includes(name)) return value !== "" && value === serverEnv[name];
  if ((TEMP_NAMES as readonly string[]).includes(name)) return isHostsTemp(name, value, context);
  if (name === "ZDOTDIR" || name === "BASH_ENV") return isLaunchers;
  const config = serverEnv.XDG_CONFIG_HOME ?? `${serverEnv.HOME ?? ""}/.config`;
  if (name === "GH_CONFIG_DIR") return isLaunchers || value === serverEnv.GH_CONFIG_DIR || value === `${config}/gh`;
  // Devices exist everywhere.
  const isInPod = isBelow(value, "/dev") || isMounted(value);
  return GIT_PATHS.includes(name) && value.startsWith("/") && value === serverEnv[name] && !isInPod;
}

/** Hosts name the temporary variables that they set; older ones are recognised by the folder. */
function isHostsTemp(name: string, value: string, context: Context): boolean {
  const scratch = recordOf(context.paperclipScratch);
  return value === textOf(scratch.dir) || textsOf(scratch.tempKeysApplied).includes(name);
}

/** The host sets PATH to its git launchers and the server's own PATH, which does not fit the pod's image. */
export function userPath({ env, serverEnv }: Pick<HostDiskInput, "env" | "serverEnv">): string | null {
  const launcher = textOf(env[LAUNCHER_DIR]);
  if (env.PATH === undefined) return null;
  if (launcher === null || !isBelow(env.PATH.split(":")[0] ?? "", launcher)) return env.PATH;
  const rest = env.PATH.split(":").slice(1).join(":");
  return rest === "" || rest === serverEnv.PATH ? null : rest;
}
