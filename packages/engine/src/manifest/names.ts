import { createHash } from "node:crypto";
import type { JobNameParts } from "../request.ts";

const SLUG_LENGTH = 16;
const HASH_LENGTH = 8;

/** A DNS label made only of the parts: the same run gives the same name, so a second create answers 409. */
export function jobName(name: JobNameParts): string {
  const hash = createHash("sha256").update(name.identity).digest("hex").slice(0, HASH_LENGTH);
  const slugs = name.parts.map(slug).filter((part) => part !== "");
  return [`${name.prefix}${slugs[0] ?? ""}`, ...slugs.slice(1), hash].join("-").replace(/-{2,}/g, "-");
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

/** Differs from submit to submit: the Secret of a Job that is being collected must not be in the way of the next. */
export function secretName(job: string, nonce: string): string {
  return `${job}-${nonce.slice(0, HASH_LENGTH)}`;
}
