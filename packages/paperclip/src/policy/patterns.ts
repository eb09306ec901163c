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

function decide(patterns: readonly string[], value: string, piecesOf: (pattern: string) => Piece[]): boolean {
  // The values are the agent's: no pattern may be kept busy by a long one.
  if (value.length > LONGEST) return false;
  const last = patterns.findLast((pattern) => matches(piecesOf(pattern.replace(/^!/, "")), value));
  return last !== undefined && !last.startsWith("!");
}

function overlaps(one: string, other: string, which: "any" | "shorter" = "any"): boolean {
  return !one.includes("*") && (other.startsWith(one) || (which === "any" && one.startsWith(other)));
}

/** Texts, and between them what may stand for anything, or for a part of one component. */
type Piece = { readonly text: string } | { readonly star: "any" | "component" };

const anywhere = (pattern: string): Piece[] => between(pattern.split("*").map(textPiece), "any");

const byComponent = (pattern: string): Piece[] =>
  between(
    pattern.split("**").map((part) => between(part.split("*").map(textPiece), "component")),
    "any",
  );

const textPiece = (text: string): Piece[] => [{ text }];

function between(parts: readonly Piece[][], star: "any" | "component"): Piece[] {
  return parts.flatMap((part, index) => (index === 0 ? part : [{ star }, ...part]));
}

/** Goes through the value once per piece, however many stars there are: no way through it is tried twice. */
function matches(pieces: readonly Piece[], value: string): boolean {
  // The places in the value that the pieces so far can end at.
  let ends: readonly number[] = [0];
  for (const piece of pieces) {
    ends =
      "text" in piece
        ? ends.filter((end) => value.startsWith(piece.text, end)).map((end) => end + piece.text.length)
        : reach(ends, value, piece.star);
    if (ends.length === 0) return false;
  }
  return ends.at(-1) === value.length;
}

function reach(ends: readonly number[], value: string, star: "any" | "component"): number[] {
  const begins = new Set(ends);
  const reached: number[] = [];
  for (let at = ends[0] ?? value.length, isIn = false; at <= value.length; at++) {
    isIn = begins.has(at) || (isIn && (star === "any" || value[at - 1] !== "/"));
    if (isIn) reached.push(at);
  }
  return reached;
}
