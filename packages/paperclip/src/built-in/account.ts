import { isBelow, isRecord, textOf } from "../host/context-values.ts";
import type { Raw } from "../settings/field.ts";

// An account that the host manages: its key is in the agent's `env`, beside blank values for every other way to sign in.

/** How it signs in, in the host's words: `api_key`, `subscription`; null = the agent has no such account. */
export function accountOf({ managedAiConnection: account }: Raw): string | null {
  return isRecord(account) ? textOf(account.method) : null;
}

/** The settings without the host's mark, and without the folders that it made for this run on its own disk; the pod has its own. */
export function withoutAccountFolders(raw: Raw): Raw {
  if (accountOf(raw) === null) return raw;
  const { managedAiConnection: _, ...rest } = raw;
  const { env } = rest;
  const home = isRecord(env) ? textOf(env.HOME) : null;
  if (!isRecord(env) || home === null) return rest;
  const isHosts = (value: unknown): boolean => typeof value === "string" && isBelow(value, home);
  return { ...rest, env: Object.fromEntries(Object.entries(env).filter(([, value]) => !isHosts(value))) };
}
