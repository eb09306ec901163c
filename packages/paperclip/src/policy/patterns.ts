import type { PathPattern, Pattern } from "./policy.ts";

const LONGEST = 4096;

/** Whether a list allows a value: the last pattern that matches it decides. */
export function allows(patterns: readonly Pattern[], value: string): boolean {
  return decide(patterns, value, anywhere);
}

export function allowsPath(patterns: readonly PathPattern[], path: string): boolean {
  return decide(patterns, path, byComponent);
}

/** A pattern of a folder stands for everything in it. */
export function allowsBelow(patterns: readonly PathPattern[], path: string): boolean {
  return allowsPath(
    patterns.flatMap((pattern) => [pattern, `${pattern}/**`]),
    path,
  );
}

/** A pattern without `=` is about the key alone. */
export function allowsLabel(patterns: readonly Pattern[], key: string, value: string): boolean {
  const last = patterns.findLast((pattern) => allows([pattern.replace(/^!/, "")], pattern.includes("=") ? `${key}=${value}` : key));
  return last !== undefined && !last.startsWith("!");
}

/** Whether a list allows every name that begins so: nothing that begins so may be taken out of it. */
export function allowsBeginning(patterns: readonly Pattern[], beginning: string): boolean {
  const takenOut = patterns.some((pattern) => pattern.startsWith("!") && overlaps(pattern.slice(1).split("*")[0] ?? "", beginning));
  return !takenOut && patterns.some((pattern) => pattern.endsWith("*") && overlaps(pattern.slice(0, -1), beginning, "shorter"));
}

function decide(patterns: readonly string[], value: string, matcher: (pattern: string) => RegExp): boolean {
  // The values are the agent's: no pattern may be kept busy by a long one.
  if (value.length > LONGEST) return false;
  const last = patterns.findLast((pattern) => matcher(pattern.replace(/^!/, "")).test(value));
  return last !== undefined && !last.startsWith("!");
}

function overlaps(one: string, other: string, which: "any" | "shorter" = "any"): boolean {
  return !one.includes("*") && (other.startsWith(one) || (which === "any" && one.startsWith(other)));
}

const anywhere = (pattern: string): RegExp => new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`, "s");

const byComponent = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split("**")
      .map((piece) => piece.split("*").map(literal).join("[^/]*"))
      .join(".*")}$`,
    "s",
  );

const literal = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
