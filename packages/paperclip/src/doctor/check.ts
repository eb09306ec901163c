import type { EnvironmentCheck } from "../host/types.ts";
import { CATALOGUE, type CheckCode, type ProblemCode } from "./catalogue.ts";

/** A check of the catalogue; a warning or an error comes with its remedy. */
export function check(level: "info", code: CheckCode, message: string): EnvironmentCheck;
export function check(level: "warn" | "error", code: ProblemCode, message: string, hint?: string): EnvironmentCheck;
export function check(level: EnvironmentCheck["level"], code: CheckCode, message: string, hint?: string): EnvironmentCheck {
  const todo = hint ?? CATALOGUE[code][1];
  return { code, level, message: sentence(message), ...(todo === "" || level === "info" ? {} : { hint: todo }) };
}

function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

export const failed = (checks: readonly EnvironmentCheck[]): boolean => checks.some(({ level }) => level === "error");
