// Not from the engine as a whole: the parsers that the host loads into a browser use this file.
import { withoutTrailing } from "@paperclip-k8s/engine/without-trailing";

// The host's context is loose JSON: these read one value of it or say that there is none.

export type Context = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Context => typeof value === "object" && value !== null && !Array.isArray(value);

export const recordOf = (value: unknown): Context => (isRecord(value) ? value : {});

export function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}

export function recordsOf(value: unknown): Context[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf).filter((item) => item !== null) : [];
}

/** Is the path the folder itself or something in it? Both absolute. */
export function isBelow(path: string, folder: string): boolean {
  const root = withoutTrailing(folder, "/");
  return path === root || path.startsWith(`${root}/`);
}
