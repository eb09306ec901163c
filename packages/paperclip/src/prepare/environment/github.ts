import type { RunRequest } from "@paperclip-k8s/engine";
import { textOf } from "../../host/context-values.ts";

// A company's GitHub connection. The host's launchers of git and gh ask it for a credential at each call, and show for that the run's token and
// its capability: a variable that is the CLI's for good, while the host accepts only that of a run under way.

/** The host sets it for a run whose git and gh it manages, to a folder of its own disk. */
export const LAUNCHER_DIR = "PAPERCLIP_GITHUB_LAUNCHER_DIR";
const CAPABILITY = "PAPERCLIP_GITHUB_BROKER_TOKEN";
const CAPABILITY_HEADER = "x-paperclip-github-capability";
const FILE = "github-launcher.cjs";

/** What the pod needs so that its git and gh are the host's launchers. */
export interface GitHubAccess extends Required<Pick<RunRequest, "files" | "programs">> {
  /** For the relay, which replaces the capability of a run that another has taken over. */
  readonly headers: Readonly<Record<string, string>>;
}

/** By the agent's env as the host gives it; null = the host does not manage this run's git. */
export async function githubAccess(env: Readonly<Record<string, string>>): Promise<GitHubAccess | null> {
  if (textOf(env[LAUNCHER_DIR]) === null) return null;
  const { githubLauncherSource } = await import("@paperclipai/adapter-utils/github-launcher");
  const capability = textOf(env[CAPABILITY]);
  return {
    files: { [FILE]: githubLauncherSource() },
    programs: { git: { file: FILE }, gh: { file: FILE } },
    headers: capability === null ? {} : { [CAPABILITY_HEADER]: capability },
  };
}
