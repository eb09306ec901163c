// What the host shows in its pages and logs holds no secrets.

/** Keys of the host's context that exist to carry tokens. */
const CARRIERS = new Set(["paperclipRuntimeTools", "paperclipManagedMcp", "runtimeMcp", "runtimeTools"]);
const SECRET_NAME = /(api[-_]?key|token|secret|passw(or)?d|passphrase|authorization|bearer|credential|cookie|jwt|private[-_]?key)/i;
// Agents and issues bring the texts, of any length: each pattern takes time in proportion to them, since none begins again inside what it has scanned.
const KEY = "sk-[\\w-]{16,}|gh[pousr]_\\w{20,}|github_pat_\\w{20,}|xox[abprs]-[\\w-]{10,}";
const KEYS = new RegExp(`\\b(?:${KEY})`, "g");
/** A JWT or a key (group 1), or what begins like a JWT but is none: taken whole, since no JWT begins in the rest of it either. */
const SECRET_TEXT = new RegExp(`\\b(?:(eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]+|${KEY})|eyJ[\\w-]*)`, "g");
/** A name alone is a credential over HTTP (a token), but not over SSH (`git`). */
const CREDENTIAL_URL = /(\bhttps?:\/\/)[^\s/@]+@|(?<=[a-z0-9+.-])(:\/\/[^\s/@:]*:)[^\s/@]+@/gi;
export const MASK = "***REDACTED***";
const MAX_DEPTH = 12;
const OPTION = /^--?[A-Za-z][\w.-]*$/;
const KEY_NAME = /(^|[-_.])key$/i;
/** `name=value`, or `Name: value` as of a header. */
const ASSIGNMENT = /^([\w.-]+)(=|:\s*)(?=\S)(.+)$/s;

/** A copy of the host's data that may be shown. `secrets` are values known to be secret. */
export function withoutTokens(value: Readonly<Record<string, unknown>>, secrets: readonly string[] = []): Record<string, unknown> {
  const known = secrets.filter((secret) => secret.length >= 8);
  return mask(value, known, 0) as Record<string, unknown>;
}

function mask(value: unknown, secrets: readonly string[], depth: number): unknown {
  if (typeof value === "string") return maskText(value, secrets);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => mask(item, secrets, depth + 1));
  const entries = Object.entries(value).filter(([key]) => !CARRIERS.has(key));
  return Object.fromEntries(entries.map(([key, item]) => [key, isSecretText(key, item) ? MASK : mask(item, secrets, depth + 1)]));
}

/** Only text is secret: `inputTokens: 12` is a count, `paperclipSecrets` a list of names. */
function isSecretText(key: string, item: unknown): boolean {
  return typeof item === "string" && item !== "" && SECRET_NAME.test(key);
}

function maskText(text: string, secrets: readonly string[]): string {
  const shown = text.replace(SECRET_TEXT, (found, secret?: string) => (secret === undefined ? found.replace(KEYS, MASK) : MASK));
  const masked = shown.replace(CREDENTIAL_URL, `$1$2${MASK}@`);
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), masked);
}

/** Arguments as they may be shown: a name that sounds secret keeps no value. */
export function withoutSecrets(args: readonly string[]): string[] {
  return args.map((arg, at) => (isSecretValue(args[at - 1] ?? "", arg) ? MASK : masked(arg)));
}

function masked(arg: string): string {
  const [, name = "", sign = "", value = ""] = ASSIGNMENT.exec(arg) ?? [];
  if (isSecret(name, value)) return `${name}${sign}${MASK}`;
  // As text, and, where it is JSON, by its names too.
  return String(withoutTokens({ arg: ofJson(arg) ?? arg }).arg);
}

const isSecretValue = (option: string, value: string): boolean => OPTION.test(option) && !OPTION.test(value) && isSecret(option, value);

/** Numbers are counts: `--max-tokens 9`. */
function isSecret(name: string, value: string): boolean {
  return (SECRET_NAME.test(name) || KEY_NAME.test(name)) && !/^\d*$/.test(value);
}

function ofJson(arg: string): string | null {
  try {
    const value: unknown = JSON.parse(arg);
    return typeof value === "object" && value !== null ? JSON.stringify(withoutTokens({ value }).value) : null;
  } catch {
    return null;
  }
}
