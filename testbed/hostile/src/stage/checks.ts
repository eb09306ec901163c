import type { ExecutionResult } from "@paperclip-k8s/paperclip";
import { expect } from "vitest";
import { MARK } from "../orders.ts";

/** Control characters but tab and newline, the 8-bit ones, and what changes the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Nothing in it can act on a terminal. */
export function expectPrintable(text: string): void {
  expect(text.split("\n").filter((line) => UNPRINTABLE.test(line))).toEqual([]);
}

/** No line of the log is the attacker's in our name (an agent's own lines begin with a mark), and none can act on a terminal. */
export function expectCleanLog(log: string): void {
  expectPrintable(log);
  expect(log.split("\n").filter((line) => /^[\s\p{Cf}]*\[paperclip\]/u.test(line) && line.includes(MARK))).toEqual([]);
}

/** What the host gets is of the kinds that its contract names, whatever the pod has said. */
export function expectProperResult(result: ExecutionResult): void {
  const { exitCode, signal, errorMessage = null, errorCode = null, resultJson } = result;
  expect(exitCode === null || (Number.isInteger(exitCode) && exitCode >= 0 && exitCode <= 255), `exit code ${exitCode}`).toBe(true);
  expect(signal === null || /^SIG[A-Z0-9]+$/.test(signal), `signal ${signal}`).toBe(true);
  expect(typeof (errorCode ?? "")).toBe("string");
  expect(UNPRINTABLE.test(errorMessage ?? "")).toBe(false);
  expect(errorMessage ?? "").not.toMatch(/(?:^|[^.\d])-\d+ (?:of|bytes)/);
  const { output } = resultJson as { output?: { delivered: number; expected: number | null } };
  if (output !== undefined) expect([output.delivered >= 0, output.expected === null || output.expected >= 0]).toEqual([true, true]);
}

/** In few words, for the table. */
export const shortly = ({ errorCode, exitCode, errorMessage }: ExecutionResult): string =>
  `${errorCode ?? `exit code ${exitCode}`}${errorMessage ? `: ${errorMessage.slice(0, 120)}` : ""}`;
