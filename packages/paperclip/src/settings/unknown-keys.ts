import { isRecord } from "../host/context-values.ts";
import { quote } from "./config-error.ts";
import { type Field, isUnset, type Raw } from "./field.ts";
import { CLAIM_FIELDS } from "./fields/state.ts";
import { fieldsOf, type SettingsOwner } from "./schema.ts";
import { settingName } from "./setting-name.ts";
import { similar } from "./similar.ts";

/** The host keeps settings of its own beside ours: skills, workspaces, and where an older one had an agent's instructions. */
const OF_THE_HOST = /^(paperclip|workspace)|^(agentsMdPath|instructionsPath|instructionsRef)$/;

/** An agent can write any number of keys; a log needs only the first few. */
const MOST = 8;

/** One warning for each key without effect, with the setting that may be meant. */
export function unknownKeys(raw: Raw, cli: SettingsOwner): readonly string[] {
  const fields = fieldsOf(cli);
  const known = new Set(fields.flatMap((field) => [field.key, ...field.aliases]));
  const unknown = givenKeys(raw).filter((key) => !known.has(key) && !OF_THE_HOST.test(key));
  const warnings = unknown.slice(0, MOST).map((key) => warning(key, fields));
  const left = unknown.length - warnings.length;
  if (left === 0) return warnings;
  return [...warnings, left === 1 ? "1 more key is no setting and has no effect" : `${left} more keys are no settings and have no effect`];
}

function warning(key: string, fields: readonly Field<unknown>[]): string {
  if ((CLAIM_FIELDS as readonly string[]).includes(key)) return `${key}: has no effect with this adapter`;
  const namesOf = ({ key: own, aliases, label }: Field<unknown>) => [own, ...aliases, ...(label === null ? [] : [label])];
  const meant = similar(key, fields, namesOf).map(settingName);
  const problem = `${quote(key)} is not a setting of this adapter and has no effect`;
  return meant.length === 0 ? problem : `${problem}; did you mean ${meant.join(" or ")}?`;
}

/** Keys that hold something; nested resources as dotted keys. */
function givenKeys(raw: Raw, path = ""): string[] {
  return Object.entries(raw).flatMap(([key, value]) => {
    if (isUnset(value, "text")) return [];
    const isNested = (path !== "" || key === "resources") && isRecord(value);
    return isNested ? givenKeys(value, `${path}${key}.`) : [`${path}${key}`];
  });
}
