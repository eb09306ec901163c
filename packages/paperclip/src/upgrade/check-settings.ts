import type { AgentCli } from "../agent-cli/agent-cli.ts";
import { recordOf } from "../host/context-values.ts";
import { enforce } from "../policy/enforce.ts";
import { DEFAULT_POLICY, type Policy } from "../policy/policy.ts";
import { PolicyError } from "../policy/refusal.ts";
import { withDefaults } from "../policy/with-defaults.ts";
import { builtInNames } from "../prepare/inherit/name-rules.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { ConfigError } from "../settings/config-error.ts";
import { type Field, isUnset, nested, type Raw } from "../settings/field.ts";
import { parseConfig } from "../settings/parse.ts";
import { fieldsOf } from "../settings/schema.ts";
import { settingName } from "../settings/setting-name.ts";
import { EARLIER_SETTINGS } from "./earlier-settings.ts";
import type { SettingFinding } from "./finding.ts";

export type { SettingFinding } from "./finding.ts";

/** What becomes of an agent's settings of an earlier adapter: refused first, then changed, removed and ignored. Nothing is asked of a cluster or a disk. */
export function checkSettings(cli: AgentCli, adapterConfig: unknown, policy: Policy = DEFAULT_POLICY): readonly SettingFinding[] {
  const raw = recordOf(adapterConfig);
  const fields = fieldsOf(cli);
  const { config, refused } = parseAll(cli, raw, policy);
  const changed = earlier(cli, raw);
  const known = new Set([...refused, ...changed].map(({ setting }) => setting));
  const found = [
    ...refused,
    ...notAllowed(cli, config, policy),
    ...changed,
    ...ignored(config, fields).filter(({ setting }) => !known.has(setting)),
  ];
  return found.map((finding) => ({ ...finding, label: fields.find(({ key }) => key === finding.setting)?.label ?? null }));
}

type Found = Omit<SettingFinding, "label">;

/** Reads the settings without those that are refused, one after the other. */
function parseAll(cli: AgentCli, raw: Raw, policy: Policy): { readonly config: AgentConfig | null; readonly refused: readonly Found[] } {
  const refused: Found[] = [];
  let left = raw;
  for (;;) {
    try {
      return { config: parseConfig(withDefaults(left, policy), {}, cli), refused };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const field = fieldsOf(cli).find(({ key, aliases }) => [key, ...aliases].some((each) => isAt(error.field, each)));
      refused.push({
        setting: field?.key ?? error.field,
        kind: "refused",
        text: error.reason,
        todo: "correct or clear it",
        isDefault: false,
      });
      const without = field === undefined ? null : remove(left, field);
      if (without === null) return { config: null, refused };
      left = without;
    }
  }
}

const isAt = (given: string, key: string): boolean => given.startsWith(key) && /^([.[,]|$)/.test(given.slice(key.length));

/** Null = there was nothing to remove. */
function remove(raw: Raw, { key, aliases }: Field<unknown>): Raw | null {
  const roots = [key, ...aliases].flatMap((each) => [each, each.split(".")[0] ?? each]);
  const left = Object.entries(raw).filter(([name]) => !roots.includes(name));
  return left.length === Object.keys(raw).length ? null : Object.fromEntries(left);
}

function notAllowed(cli: AgentCli, config: AgentConfig | null, policy: Policy): readonly Found[] {
  if (config === null) return [];
  try {
    enforce(config, policy, { env: {}, namespaces: [], isBuiltIn: builtInNames(cli.variables, {}) }).check();
    return [];
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return error.refusals.map(({ field, text }) => ({
      setting: field,
      kind: "refused",
      text,
      todo:
        field === "namespace"
          ? "nothing if it is the server's own; else allow it in the policy, or clear it"
          : "allow it in the policy, or clear it",
      isDefault: false,
    }));
  }
}

function earlier(cli: AgentCli, raw: Raw): readonly Found[] {
  return [...EARLIER_SETTINGS, ...(cli.settings.earlier ?? [])].flatMap(({ setting, kind, when, text, todo }) => {
    const value = Object.hasOwn(raw, setting) ? raw[setting] : nested(raw, setting);
    const isDefault = isUnset(value, "text");
    const concerns = when === undefined ? !isDefault : when(value, raw);
    return concerns ? [{ setting, kind, text, todo, isDefault }] : [];
  });
}

function ignored(config: AgentConfig | null, fields: readonly Field<unknown>[]): readonly Found[] {
  return (config?.warnings ?? []).map((warning) => {
    const field = fields.find((each) => warning.startsWith(`${settingName(each)}: `));
    const setting = field?.key ?? /^"([^"]*)"/.exec(warning)?.[1] ?? "";
    const text = field === undefined ? warning : warning.slice(settingName(field).length + 2);
    return { setting, kind: "ignored", text, todo: "correct or clear it", isDefault: false };
  });
}
