const BRAND = Symbol.for("paperclip-k8s/config-error");

/** A setting is missing or wrong; nothing was created. The message names the field and the remedy. */
export class ConfigError extends Error {
  /** Key of the setting; several are separated by commas. */
  readonly field: string;
  readonly reason: string;
  /** The message names the field as the agent's form does, so it can be corrected there. */
  readonly isOnForm: boolean;
  readonly [BRAND] = true;

  /** Also one of another package of ours: each has this class once, and the first one in a server runs the code of all. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  /** `name`: what the message calls the field. */
  constructor(field: string, reason: string, name = field) {
    super(`${name}: ${reason}`);
    this.name = "ConfigError";
    this.field = field;
    this.reason = reason;
    this.isOnForm = name !== field;
  }

  /** The same error, calling its settings by other names than their keys. */
  renamed(nameOf: (field: string) => string): ConfigError {
    return new ConfigError(this.field, this.reason, nameOf(this.field));
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

/** An agent can write any number of things; a log needs only the first few. */
const MOST = 8;
const LONGEST_ITEM = 120;

/** "line 1, line 4, … and 7 more" */
export function few(items: readonly string[]): string {
  const shown = items
    .slice(0, MOST)
    .map((item) => (item.length <= LONGEST_ITEM ? item : `${item.slice(0, LONGEST_ITEM)}…`))
    .join(", ");
  return items.length <= MOST ? shown : `${shown} and ${items.length - MOST} more`;
}
