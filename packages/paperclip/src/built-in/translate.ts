import type { BuiltInSetting, BuiltInType, SettingFacts } from "../agent-cli/built-in-type.ts";
import { isUnset, type Raw } from "../settings/field.ts";
import type { Note } from "../settings/note.ts";
import { commonSettings } from "./common-settings.ts";

/** Every setting that agents of this built-in type can have, in the order of the documents. A setting of the type stands for a common one of its name. */
export function settingsOf({ settings }: Pick<BuiltInType, "settings">): readonly BuiltInSetting[] {
  const own = new Set(settings.map(({ key }) => key));
  return [...settings, ...commonSettings.filter(({ key }) => !own.has(key))];
}

interface TranslatedSettings {
  readonly raw: Raw;
  readonly notes: readonly Note[];
}

/** The settings of an agent of a built-in type, as settings of ours. What an agent has set by our own names stays as it is, unless a setting of the type overrules it. */
export function translateSettings(type: Pick<BuiltInType, "settings">, facts: SettingFacts): TranslatedSettings {
  const left: Record<string, unknown> = { ...facts.raw };
  const set: Record<string, unknown> = {};
  const notes: Note[] = [];
  for (const setting of settingsOf(type)) {
    if (!("translate" in setting)) continue;
    const { key } = setting;
    if (isUnset(left[key], "toggle")) continue;
    const { set: found = {}, warning } = setting.translate(left[key], facts);
    delete left[key];
    Object.assign(set, found);
    if (warning !== undefined) notes.push({ setting: key, text: warning, message: `${key}: ${warning}` });
  }
  return { raw: { ...left, ...set }, notes };
}
