/** Keys of the host's context that exist to carry tokens. */
const CARRIERS = new Set(["paperclipRuntimeTools", "paperclipManagedMcp", "runtimeMcp", "runtimeTools"]);
export const SECRET_NAME = /(api[-_]?key|token|secret|passw(or)?d|passphrase|authorization|bearer|credential|cookie|jwt|private[-_]?key)/i;
const SECRET_TEXT = /\b(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+|sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,})/g;
/** A name alone is a credential over HTTP (a token), but not over SSH (`git`). */
const CREDENTIAL_URL = /\b(?:(https?:\/\/)[^\s/@]+|([a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:)[^\s/@]+)@/gi;
export const MASK = "***REDACTED***";
const MAX_DEPTH = 12;

/** A copy of the host's data that may be shown: nothing in it opens a door. `secrets` are values known to be such. */
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
  return Object.fromEntries(entries.map(([key, item]) => [key, hides(key, item) ? MASK : mask(item, secrets, depth + 1)]));
}

/** Only text hides: `inputTokens: 12` is a count, `paperclipSecrets` a list of names. */
function hides(key: string, item: unknown): boolean {
  return typeof item === "string" && item !== "" && SECRET_NAME.test(key);
}

function maskText(text: string, secrets: readonly string[]): string {
  const masked = text.replace(SECRET_TEXT, MASK).replace(CREDENTIAL_URL, `$1$2${MASK}@`);
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), masked);
}
