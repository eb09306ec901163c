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
  const kept = Object.entries(env).filter(([, value]) => !isHosts(value));
  return { ...rest, env: Object.fromEntries(kept.map(([name, value]) => [name, plainValue(value)])) };
}

/** When it tries an account, the host hands the agent's other variables over as they are stored. */
const plainValue = (value: unknown): unknown => (isRecord(value) && value.type === "plain" ? value.value : value);
