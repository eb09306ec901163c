import { isBelow, textOf } from "../../host/context-values.ts";
import { LAUNCHER_DIR } from "./github.ts";
import { GITHUB_TOKENS, userPath } from "./host-disk.ts";

interface HostsInput {
  readonly env: Readonly<Record<string, string>>;
  readonly serverEnv: NodeJS.ProcessEnv;
  /** Whether the host has prepared an account for this run. */
  readonly hasAccount: boolean;
  /** Variables in which the host gives its key to this CLI. */
  readonly accountVariables: readonly string[];
}

const NO_GIT_SETTINGS: Readonly<Record<string, string>> = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_SSH_COMMAND: "ssh -F /dev/null -o IdentityAgent=none -o IdentitiesOnly=yes -o IdentityFile=none -o BatchMode=yes",
};

/** Blank beside the host's git launchers: who commits, and every other way to sign in. */
const BLANK_FOR_GIT = /^(GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL)|GIT_CONFIG_(COUNT|(KEY|VALUE)_\d+)|GIT_ASKPASS|SSH_ASKPASS|SSH_AUTH_SOCK)$/;

/** Blank beside an account of the host: keys, addresses, folders and models of all providers, and what signs in to their clouds. */
const BLANK_FOR_ACCOUNT = /^AWS_\w+$|_(API_KEY|(AUTH|OAUTH)_TOKEN|BASE_URL|HOME|CONFIG(_DIR|_CONTENT)?|AUTH_JSON|MODEL)$|_USE_[A-Z]+$/;

/**
 * Whether the host itself has set a variable of an agent's env for this run, for a managed account or GitHub connection: no policy has to
 * allow those. An account's variables are known by their names, since the host has removed the agent's own of these names; others by their
 * values too.
 */
export function setByHost(input: HostsInput): (name: string) => boolean {
  const { env, serverEnv, hasAccount, accountVariables } = input;
  const launcher = textOf(env[LAUNCHER_DIR]);
  const ofLaunchers = (name: string, value: string): boolean => {
    if (launcher === null) return false;
    if (name === "PATH") return userPath({ env, serverEnv }) === null;
    if (value === "") return BLANK_FOR_GIT.test(name) || GITHUB_TOKENS.includes(name);
    return ["ZDOTDIR", "BASH_ENV"].includes(name) ? isBelow(value, launcher) : value === NO_GIT_SETTINGS[name];
  };
  const ofAccount = (name: string, value: string): boolean =>
    hasAccount && (accountVariables.includes(name) || (value === "" && BLANK_FOR_ACCOUNT.test(name)));
  const isServersToken = (name: string, value: string): boolean =>
    GITHUB_TOKENS.includes(name) && value !== "" && value === serverEnv[name];
  return (name) => {
    const value = env[name] ?? "";
    return ofLaunchers(name, value) || ofAccount(name, value) || isServersToken(name, value);
  };
}
