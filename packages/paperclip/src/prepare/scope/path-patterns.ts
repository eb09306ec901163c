// Paths in which `*` stands for one whole component.

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "");

const fits = (one: string | undefined, other: string | undefined): boolean => one === other || one === "*" || other === "*";

/** The path itself, or the folder above it, that a pattern stands for; null = the path is not in such a folder. */
export function matchedFolder(pattern: string, path: string): string | null {
  const wanted = partsOf(pattern);
  const parts = partsOf(path);
  return parts.length >= wanted.length && wanted.every((part, index) => fits(part, parts[index]))
    ? `/${parts.slice(0, wanted.length).join("/")}`
    : null;
}

/** Whether one of the first pattern's folders may be above one of the second's, and not the same. */
export function isAbove(above: string, below: string): boolean {
  const upper = partsOf(above);
  const lower = partsOf(below);
  return upper.length < lower.length && upper.every((part, index) => fits(part, lower[index]));
}

export const isPattern = (path: string): boolean => partsOf(path).includes("*");
