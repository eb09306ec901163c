import { isUnset, type Raw } from "./field.ts";
import { nearest } from "./nearest-key.ts";
import { quote } from "./quote.ts";
import { allFields, fieldsOf } from "./schema.ts";

/** The host keeps settings of its own beside ours; they are none of our business. */
const OF_THE_HOST = /^(paperclip|workspace)/;

/** Keys without effect that look like ours: misspelt, of another adapter, or below `resources`. Any others are kept silently. */
export function unknownKeys(raw: Raw, adapter: string): readonly string[] {
  const known = fieldsOf(adapter).flatMap((field) => [field.key, ...field.aliases]);
  const warnings: string[] = [];
  for (const key of givenKeys(raw)) {
    if (known.includes(key) || OF_THE_HOST.test(key)) continue;
    const other = allFields.find((field) => field.key === key);
    const near = nearest(key, known);
    if (other !== undefined) warnings.push(`${key}: is a setting of ${other.adapters?.join(", ")} and has no effect here`);
    else if (near !== null) warnings.push(`${quote(key)} is not a setting; did you mean ${near}?`);
    else if (key.startsWith("resources.")) warnings.push(`${quote(key)} is not a setting and has no effect`);
  }
  return warnings;
}

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
