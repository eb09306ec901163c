import { ConfigError } from "../config-error.ts";

/** JSON text becomes its value; other text stays text, unless its first character says that JSON was meant. */
export function parsedText(text: string, key: string, opening: "{" | "["): unknown {
  // The host's edit form turns a stored object into this text.
  if (text.includes("[object Object]"))
    throw new ConfigError(key, 'holds "[object Object]": the form cannot show an object, enter it as JSON text');
  try {
    return JSON.parse(text);
  } catch {
    if (text.trim().startsWith(opening)) throw new ConfigError(key, "is not valid JSON");
    return text;
  }
}
