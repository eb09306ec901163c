import { withoutTrailing } from "./without-trailing.ts";

/** Whether one path is the other, or lies below it; a run's key is such a path too. */
export function overlaps(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => `${withoutTrailing(path, "/")}/`) as [string, string];
  return a.startsWith(b) || b.startsWith(a);
}
