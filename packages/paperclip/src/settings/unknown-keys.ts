import { isRecord } from "../host/context-values.ts";
import { quote } from "./config-error.ts";
import { type Field, isUnset, type Raw } from "./field.ts";
import { CLAIM_FIELDS } from "./fields/state.ts";
import { type Note, noted } from "./note.ts";
import { fieldsOf, type SettingsOwner } from "./schema.ts";
import { settingName } from "./setting-name.ts";
import { similar } from "./similar.ts";

/** The host keeps settings of its own beside ours: skills, workspaces, and where an older one had an agent's instructions. */
const OF_THE_HOST = /^(paperclip|workspace)|^(agentsMdPath|instructionsPath|instructionsRef)$/;

/** An agent can write any number of keys; a log needs only the first few. */
const MOST = 8;

/** One warning for each key without effect, with the setting that may be meant. */
export function unknownKeys(raw: Raw, cli: SettingsOwner): readonly Note[] {
  const fields = fieldsOf(cli);
  const known = new Set(fields.flatMap((field) => [...parentsOf(field.key), field.key, ...field.aliases]));
  const unknown = givenKeys(raw).filter((key) => !known.has(key) && !OF_THE_HOST.test(key));
  const notes = unknown.slice(0, MOST).map((key) => noteOf(key, fields));
  const left = unknown.length - notes.length;
  if (left === 0) return notes;
  const text = left === 1 ? "1 more key is no setting and has no effect" : `${left} more keys are no settings and have no effect`;
  return [...notes, { setting: "", text, message: text }];
}

function noteOf(key: string, fields: readonly Field<unknown>[]): Note {
  if ((CLAIM_FIELDS as readonly string[]).includes(key)) return noted({ key, label: null }, "has no effect with this adapter");
  const namesOf = ({ key: own, aliases, label }: Field<unknown>) => [own, ...aliases, ...(label === null ? [] : [label])];
  const meant = similar(key, fields, namesOf).map(settingName);
  const problem = "is not a setting of this adapter and has no effect";
  const text = meant.length === 0 ? problem : `${problem}; did you mean ${meant.join(" or ")}?`;
  return { setting: key, text, message: `${quote(key)} ${text}` };
}

/** `resources.limits` and `resources` of `resources.limits.cpu`. */
const parentsOf = (key: string): readonly string[] => [...key.matchAll(/\./g)].map(({ index }) => key.slice(0, index));

/** No setting has a longer path; an agent can write one of any length. */
const DEEPEST = 3;

/** Keys that hold something; nested resources as dotted keys. */
function givenKeys(raw: Raw, path = "", depth = 1): string[] {
  return Object.entries(raw).flatMap(([key, value]) => {
    if (isUnset(value, "text")) return [];
    if (depth === 1 && key !== "resources") return [key];
    return depth < DEEPEST && isRecord(value) ? givenKeys(value, `${path}${key}.`, depth + 1) : [`${path}${key}`];
  });
}
