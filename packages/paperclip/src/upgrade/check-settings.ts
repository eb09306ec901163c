import type { AgentCli } from "../agent-cli/agent-cli.ts";
import { isRecord, recordOf } from "../host/context-values.ts";
import { defaultsOf } from "../policy/defaults-of.ts";
import { enforce } from "../policy/enforce.ts";
import { enforceLikePod } from "../policy/enforce-pod.ts";
import { allowsPath } from "../policy/patterns.ts";
import { DEFAULT_POLICY, type Policy } from "../policy/policy.ts";
import type { Refusals } from "../policy/refusal.ts";
import { builtInNames } from "../prepare/inherit/name-rules.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { ConfigError } from "../settings/config-error.ts";
import { type Field, isUnset, type Raw } from "../settings/field.ts";
import type { Note } from "../settings/note.ts";
import { parseSettings } from "../settings/parse.ts";
import { look, nested } from "../settings/read.ts";
import { fieldsOf } from "../settings/schema.ts";
import { EARLIER_SETTINGS } from "./earlier-settings.ts";
import type { SettingFinding } from "./finding.ts";
import { ignoredEarlier } from "./now-used.ts";

export { chosenMode } from "../settings/session-mode.ts";
export type { SettingFinding } from "./finding.ts";

/** What becomes of an agent's settings of an earlier adapter: refused first, then changed or removed, then ignored. Nothing is asked of a cluster or a disk. */
export function checkSettings(cli: AgentCli, adapterConfig: unknown, policy: Policy = DEFAULT_POLICY): readonly SettingFinding[] {
  const raw = withTexts(recordOf(adapterConfig));
  const fields = fieldsOf(cli);
  const { config, notes, refused } = parseAll(cli, raw, policy);
  const changed = [...imageNeeds(config, policy), ...earlier(cli, raw), ...nowUsed(fields, raw, refused)];
  const known = new Set([...refused, ...changed].map(({ setting }) => setting));
  const found = [
    ...refused,
    ...notAllowed(cli, config, policy),
    ...changed,
    ...ignored(notes.filter(({ setting }) => !known.has(setting))),
  ];
  const labelOf = (setting: string) => fields.find(({ key, aliases }) => [key, ...aliases].includes(setting))?.label ?? null;
  return found.map((finding) => ({ ...finding, label: labelOf(finding.setting) }));
}

type Found = Omit<SettingFinding, "label">;

/** The host gives runs the texts behind the bindings (`plain`, `secret_ref`) that its API shows. */
function withTexts(raw: Raw): Raw {
  if (!isRecord(raw.env)) return raw;
  const text = (value: unknown) => (isRecord(value) && typeof value.type === "string" ? "" : value);
  return { ...raw, env: Object.fromEntries(Object.entries(raw.env).map(([name, value]) => [name, text(value)])) };
}

interface ParsedAll {
  readonly config: AgentConfig | null;
  readonly notes: readonly Note[];
  readonly refused: readonly Found[];
}

/** Reads the settings without those that are refused, one after the other. */
function parseAll(cli: AgentCli, raw: Raw, policy: Policy): ParsedAll {
  const refused: Found[] = [];
  const fields = fieldsOf(cli);
  for (let left: Raw | null = raw; left !== null; ) {
    try {
      return { ...parseSettings(left, {}, cli, defaultsOf(policy)), refused };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const field = fields.find(({ key, aliases }) => [key, ...aliases].some((each) => isAt(error.field, each)));
      refused.push({ ...FOUND, setting: field?.key ?? error.field, kind: "refused", text: error.reason });
      left = field === undefined ? null : without(left, field);
    }
  }
  return { config: null, notes: [], refused };
}

const FOUND = { todo: "correct or clear it", isDefault: false } as const;

const isAt = (given: string, key: string): boolean => given.startsWith(key) && /^([.[]|$)/.test(given.slice(key.length));

/** Null = there was nothing to leave out. */
function without(raw: Raw, { key, aliases }: Field<unknown>): Raw | null {
  const roots = [key, ...aliases].flatMap((each) => [each, each.split(".")[0] ?? each]);
  const left = Object.entries(raw).filter(([name]) => !roots.includes(name));
  return left.length === Object.keys(raw).length ? null : Object.fromEntries(left);
}

function notAllowed(cli: AgentCli, config: AgentConfig | null, policy: Policy): readonly Found[] {
  if (config === null) return [];
  const facts = { env: {}, namespaces: [], container: cli.container, isBuiltIn: builtInNames(cli.variables, {}), isSetByHost: () => false };
  const always = enforce(config, policy, facts).found;
  const unlessServers = unlessServersOwn(config, policy).found;
  return [...always, ...unlessServers].map(({ field, text }) => {
    const isMaybe = field === "namespace" || unlessServers.some((refusal) => refusal.field === field);
    const todo = "allow it in the policy, or clear it";
    return { ...FOUND, setting: field, kind: "refused", text, todo: isMaybe ? `nothing if it is the server's own; else ${todo}` : todo };
  });
}

/** What the policy does not allow, and only the server's own pod or environment could. */
function unlessServersOwn(config: AgentConfig, policy: Policy): Refusals {
  const refusals = enforceLikePod(config, policy, null);
  const { kubeconfig } = config;
  if (kubeconfig !== null && kubeconfig !== policy.defaults.kubeconfig && !allowsPath(policy.allow.kubeconfigs, kubeconfig))
    refusals.notListed("kubeconfig", "kubeconfigs", kubeconfig);
  return refusals;
}

/** An image of the agent's own was enough with a shell and the CLI. */
function imageNeeds(config: AgentConfig | null, { tools, defaults }: Policy): readonly Found[] {
  const isOwn = config !== null && config.image !== null && config.image !== defaults.image;
  if (!isOwn || (tools.image !== null && config.tools !== "never")) return [];
  const text = "besides the CLI it must have Node ≥ 18, which cannot be seen from here: without it no run starts";
  return [
    {
      setting: "image",
      kind: "changed",
      text,
      todo: "offer a tools image in the policy (docs/images.md), or look what the image has",
      isDefault: false,
    },
  ];
}

function earlier(cli: AgentCli, raw: Raw): readonly Found[] {
  return [...EARLIER_SETTINGS, ...(cli.settings.earlier ?? [])].flatMap(({ setting, kind, when, text, todo }) => {
    const value = Object.hasOwn(raw, setting) ? raw[setting] : nested(raw, setting);
    const concerns = when === undefined ? !isUnset(value, "text") : when(value, raw);
    return concerns ? [{ setting, kind, text, todo, isDefault: isUnset(value, "toggle") }] : [];
  });
}

/** Values in a form that the earlier adapters did not read. */
function nowUsed(fields: readonly Field<unknown>[], raw: Raw, refused: readonly Found[]): readonly Found[] {
  const readable = fields.filter(({ key }) => !refused.some(({ setting }) => setting === key));
  return readable.flatMap((field) => {
    const { given } = look(field, [raw]);
    const why = given === null ? null : ignoredEarlier(field, given.value);
    if (given === null || why === null) return [];
    return [{ setting: given.key, kind: "changed" as const, text: `${why}; now it is used`, todo: "check it", isDefault: false }];
  });
}

const ignored = (notes: readonly Note[]): readonly Found[] =>
  notes.map(({ setting, text }) => ({ ...FOUND, setting, kind: "ignored", text }));
