import { quote } from "./config-error.ts";
import { isUnset, type Raw } from "./field.ts";
import { CLAIM_FIELDS } from "./fields/state.ts";
import { fieldsOf, type SettingsOwner } from "./schema.ts";

/** The host keeps settings of its own beside ours. */
const OF_THE_HOST = /^(paperclip|workspace)/;

/** Keys without effect that look like ours: nearly spelled like one, or below `resources`. Any others may be the host's. */
export function unknownKeys(raw: Raw, cli: SettingsOwner): readonly string[] {
  const known = fieldsOf(cli).flatMap((field) => [field.key, ...field.aliases]);
  return givenKeys(raw).flatMap((key) => {
    if (known.includes(key) || OF_THE_HOST.test(key)) return [];
    if ((CLAIM_FIELDS as readonly string[]).includes(key)) return [`${key}: has no effect with this adapter`];
    const near = nearest(key, known);
    if (near !== null) return [`${quote(key)} is not a setting; did you mean ${near}?`];
    return key.startsWith("resources.") ? [`${quote(key)} is not a setting and has no effect`] : [];
  });
}

const SHORTEST = 5;

/** The known key that differs only in case, plural or unit, or the only one that starts with the given key. */
function nearest(key: string, known: readonly string[]): string | null {
  const given = plain(key);
  const same = known.find((candidate) => plain(candidate) === given);
  const begun = given.length < SHORTEST ? [] : known.filter((candidate) => plain(candidate).startsWith(given));
  return same ?? (begun.length === 1 ? begun[0]! : null);
}

const plain = (key: string): string =>
  key
    .toLowerCase()
    .replace(/[^a-z0-9.]/g, "")
    .replace(/(seconds|secs|sec)$/, "")
    .replace(/s(?=\.|$)/g, "");

/** Keys that hold something; nested resources as dotted keys. */
function givenKeys(raw: Raw): string[] {
  return Object.entries(raw).flatMap(([key, value]) => {
    if (isUnset(value, "text")) return [];
    return key === "resources" && isObject(value) ? leaves(value, "resources") : [key];
  });
}

function leaves(value: Raw, path: string): string[] {
  return Object.entries(value).flatMap(([key, item]) => {
    if (isUnset(item, "text")) return [];
    return isObject(item) ? leaves(item, `${path}.${key}`) : [`${path}.${key}`];
  });
}

function isObject(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
