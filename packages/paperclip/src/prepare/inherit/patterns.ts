/** A name, or the beginning of names with `*` at its end. */
export type NamePattern = string;

export function matches(name: string, patterns: readonly NamePattern[]): boolean {
  return patterns.some((pattern) => (isOpen(pattern) ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}

export const isOpen = (pattern: NamePattern): boolean => pattern.endsWith("*");
