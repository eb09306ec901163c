import type { CliVariables } from "../../agent-cli/agent-cli.ts";

/** A name, or the beginning of names with `*` at its end. */
export type NamePattern = string;

export const isOpen = (pattern: NamePattern): boolean => pattern.endsWith("*");

export function matches(name: string, patterns: readonly NamePattern[]): boolean {
  return patterns.some((pattern) => (isOpen(pattern) ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}

/** Why a variable stays with the server. */
export interface Denied {
  /**
   * `secret`: the host's own, never given away. `credential`: may be the host's own, given only when named in full.
   * `setting`: of no use or misleading in another pod, given only when named in full.
   */
  readonly kind: "secret" | "credential" | "setting";
  readonly why: string;
}

/** With one of these an agent could act as the server. */
export const HOST_SECRETS: readonly NamePattern[] = [
  "DATABASE_URL",
  "DATABASE_MIGRATION_URL",
  "BETTER_AUTH_SECRET",
  "PAPERCLIP_AGENT_JWT_SECRET",
  "PAPERCLIP_K8S_RECORD_SECRET",
  "PAPERCLIP_SECRETS_MASTER_KEY",
  "PAPERCLIP_API_KEY",
  "PAPERCLIP_DEV_API_KEY",
  "BETTER_AUTH_*",
  "PAPERCLIP_SECRETS_*",
  "PAPERCLIP_STORAGE_S3_*",
  "RUN_LOG_S3_*",
];
/** Later versions of the host may have more keys and tokens; their names have this form. */
const HOST_SECRET_FORM = /^PAPERCLIP_.*(SECRET|KEY|TOKEN|PASSWORD|CREDENTIAL)|_MASTER_KEY(_FILE)?$/;

const HOST_CREDENTIALS: readonly NamePattern[] = ["POSTGRES_*", "PG*", "GOOGLE_CLIENT_*", "GITHUB_CLIENT_*"];

/** With these an agent could do whatever the server's own account may do with every repository. */
const GIT_CREDENTIALS: readonly NamePattern[] = ["GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_TOKEN"];

/** The host's own object stores and secret manager sign in with these, as a model on Bedrock does. */
const AWS_CREDENTIALS: readonly NamePattern[] = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_PROFILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_CONFIG_FILE",
];
const AWS_STORES: readonly NamePattern[] = ["PAPERCLIP_STORAGE_S3_*", "RUN_LOG_S3_*", "PAPERCLIP_SECRETS_AWS_*"];

/** Kubernetes sets these for the pod's service account; inherited ones would keep a run from getting those of its own account. */
const WORKLOAD_IDENTITY: readonly NamePattern[] = [
  "AWS_ROLE_ARN",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_CONTAINER_CREDENTIALS_*",
  "AWS_CONTAINER_AUTHORIZATION_TOKEN*",
  "AZURE_FEDERATED_TOKEN_FILE",
];

const HOST_SETTINGS: readonly NamePattern[] = [
  ...["PAPERCLIP_*", "HOST", "PORT", "SERVE_UI", "TRUST_PROXY", "HEARTBEAT_SCHEDULER_*", "RUN_LOG_*", "USER_UID", "USER_GID"],
  ...["POD_NAME", "POD_NAMESPACE", "POD_IP", "KUBERNETES_*", "KUBECONFIG", "NOTIFY_SOCKET"],
];
const HOST_PLACES: readonly NamePattern[] = [
  ...["HOME", "PATH", "PWD", "OLDPWD", "SHLVL", "HOSTNAME", "TMPDIR", "TMP", "TEMP", "XDG_*", "USER", "LOGNAME", "SHELL"],
  ...["CODEX_HOME", "KIMI_CODE_HOME", "GH_CONFIG_DIR", "SSH_AUTH_SOCK"],
];

/** Why a variable stays with the server; null = nothing speaks against giving it. `others` are all names the server has. */
export function denied(name: string, others: readonly string[], cli: CliVariables): Denied | null {
  if (matches(name, HOST_PLACES) || matches(name, cli.denylist)) return { kind: "setting", why: "a place of the server's own" };
  // The host's settings for this CLI have the same prefix as the host's own settings.
  if (name.startsWith("PAPERCLIP_") && matches(name, cli.allowlist)) return null;
  if (matches(name, HOST_SECRETS) || HOST_SECRET_FORM.test(name)) return { kind: "secret", why: "the server's own secret" };
  if (matches(name, HOST_CREDENTIALS)) return { kind: "credential", why: "the server's database or sign-in" };
  if (matches(name, GIT_CREDENTIALS)) return { kind: "credential", why: "a login to all repositories of the server's account" };
  if (matches(name, WORKLOAD_IDENTITY)) return { kind: "setting", why: "the identity of the server's service account" };
  if (matches(name, AWS_CREDENTIALS) && others.some((other) => matches(other, AWS_STORES)))
    return { kind: "credential", why: "the server's own stores use it" };
  return matches(name, HOST_SETTINGS) ? { kind: "setting", why: "a setting of the server" } : null;
}
