import { isRecord } from "../host/context-values.ts";
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

/** Shorter words resemble too many others: "mode" is the host's own. */
const SHORTEST = 5;

/** The known key that differs only in case, plural, unit or by one typing mistake, or the only one that starts with the given key. */
export function nearest(key: string, known: readonly string[]): string | null {
  const given = plain(key);
  const same = known.find((candidate) => plain(candidate) === given);
  if (same !== undefined || given.length < SHORTEST) return same ?? null;
  const begun = known.filter((candidate) => plain(candidate).startsWith(given));
  return begun.length === 1 ? begun[0]! : (known.find((candidate) => isMistyped(given, plain(candidate))) ?? null);
}

/** One letter more, less or different, or two neighbours swapped. */
function isMistyped(given: string, wanted: string): boolean {
  const length = Math.min(given.length, wanted.length);
  let start = 0;
  while (start < length && given[start] === wanted[start]) start++;
  let end = 0;
  while (end < length - start && given.at(-1 - end) === wanted.at(-1 - end)) end++;
  const [one, other] = [given.slice(start, given.length - end), wanted.slice(start, wanted.length - end)];
  const isSwapped = one.length === 2 && other === `${one[1]}${one[0]}`;
  return wanted.length >= SHORTEST && (isSwapped || Math.max(one.length, other.length) <= 1);
}

const plain = (key: string): string =>
  key
    .toLowerCase()
    .replace(/[^a-z0-9.]/g, "")
    .replace(/(seconds|secs|sec)$/, "")
    .replace(/s(?=\.|$)/g, "");

/** Keys that hold something; nested resources as dotted keys. */
function givenKeys(raw: Raw, path = ""): string[] {
  return Object.entries(raw).flatMap(([key, value]) => {
    if (isUnset(value, "text")) return [];
    const isNested = (path !== "" || key === "resources") && isRecord(value);
    return isNested ? givenKeys(value, `${path}${key}.`) : [`${path}${key}`];
  });
}
