const MAX_LENGTH = 63;

/** The nearest valid label value, and whether anything had to be dropped; case is kept. */
export function labelValue(value: string): { readonly value: string; readonly changed: boolean } {
  const valid = value
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, MAX_LENGTH)
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
