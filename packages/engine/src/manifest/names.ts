import { createHash } from "node:crypto";
import type { JobNameParts } from "../request.ts";

const SLUG_LENGTH = 16;
const HASH_LENGTH = 8;

/** How many names a key has: the first is free unless its Job is kept for debugging, and so on. */
export const JOB_NAMES = 10;

/** A DNS label made only of the parts: the same run gives the same name, so a second create answers 409. `nth`: which of the key's names. */
export function jobName(name: JobNameParts, nth = 1): string {
  const hash = createHash("sha256").update(name.identity).digest("hex").slice(0, HASH_LENGTH);
  const slugs = name.parts.map(slug).filter((part) => part !== "");
  const first = [`${name.prefix}${slugs[0] ?? ""}`, ...slugs.slice(1), hash].join("-").replace(/-{2,}/g, "-");
  return nth === 1 ? first : `${first}-${nth}`;
}

/** Lower case letters, digits and single hyphens, none at the ends. */
function slug(value: string): string {
  return value
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, SLUG_LENGTH)
    .replace(/-+$/, "");
}

/** Differs for every create: the Secret of a Job that is just being deleted must not be in the way of the next. */
export function secretName(job: string, nonce: string): string {
  return `${job}-${nonce.slice(0, HASH_LENGTH)}`;
}

const LABEL_LENGTH = 63;

/** The nearest valid label value, and whether anything had to be dropped; case is kept. */
export function labelValue(value: string): { readonly value: string; readonly changed: boolean } {
  const valid = value
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, LABEL_LENGTH)
    .replace(/[^A-Za-z0-9]+$/, "");
  return { value: valid, changed: valid !== value };
}

/** A label or annotation key: an optional DNS prefix and a name of at most 63 characters. */
export function isLabelKey(key: string): boolean {
  const [name, prefix, ...more] = key.split("/").reverse();
  if (more.length > 0 || name === undefined) return false;
  if (prefix !== undefined && !/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(prefix)) return false;
  return /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/.test(name);
}
