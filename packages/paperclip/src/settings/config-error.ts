/** A setting is missing or wrong; nothing was created. The message names the field and the remedy. */
export class ConfigError extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(`${field}: ${message}`);
    this.name = "ConfigError";
    this.field = field;
  }
}

const LONGEST = 60;

/** A refused value as messages show it: one short line. */
export function quote(value: unknown): string {
  if (typeof value === "object" || typeof value === "function") return kindOf(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
