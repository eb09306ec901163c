// What forms and people send, by kind of field, for tests that walk every key.
import { expect, test } from "vitest";
import type { AgentConfig } from "../agent-config.ts";
import type { Field, Raw } from "../field.ts";

/** Sent value → what becomes of it; and values that are refused. */
export interface Case {
  readonly at: (config: AgentConfig) => unknown;
  readonly unset: unknown;
  readonly good: readonly (readonly [sent: unknown, becomes: unknown])[];
  readonly bad: readonly unknown[];
}

export const textCase = (at: Case["at"], unset: unknown = null): Case => ({
  at,
  unset,
  good: [
    ["some text", "some text"],
    [" cut ", "cut"],
  ],
  bad: [5, true, [], {}, "a\0b"],
});
export const numberCase = (at: Case["at"], unset: number, max: number): Case => ({
  at,
  unset,
  good: [
    [90, 90],
    ["90", 90],
    [" 7 ", 7],
    ["0", unset],
    [max, max],
  ],
  bad: ["soon", -1, 1.5, "1.5", "0x10", max + 1, Number.NaN, true, [], {}],
});
export const toggleCase = (at: Case["at"], unset: boolean): Case => ({
  at,
  unset,
  good: [
    [true, true],
    [false, false],
    ["true", true],
    ["False", false],
    [1, true],
    [0, false],
  ],
  bad: ["maybe", 2, [], {}],
});
export const quantityCase = (at: Case["at"], unset: string, good: string): Case => ({
  at,
  unset,
  good: [
    [good, good],
    [` ${good} `, good],
    ["0", unset],
  ],
  bad: ["lots", "1GB", "-1", "1e3", true, [], {}],
});
export const DAY = 86_400;
export const mapGood: Case["good"] = [
  [{ "example.com/a": "b" }, { "example.com/a": "b" }],
  ['{"a": "b", "n": 1, "t": true}', { a: "b", n: "1", t: "true" }],
  ["a=b\nc = d", { a: "b", c: "d" }],
  ["# why\r\na=b\r\n\r\n  c = d  \r\n", { a: "b", c: "d" }],
  ["a=", { a: "" }],
];
export const mapBad = [
  "a",
  "=b",
  "a=b\nc",
  "a b=c",
  "[1]",
  "5",
  '{"a": {}}',
  "{a: b}",
  "[object Object]",
  [],
  ["a=b"],
  5,
  true,
  { "a b": "c" },
  { a: null },
];

/** Sends each value as the form does (dotted), and as people write it (nested). */
export function testSetting(field: Field<unknown>, { at, unset, good, bad }: Case, parse: (raw: Raw) => AgentConfig): void {
  const keys = [field.key, ...field.aliases];
  const sent = (value: unknown) => keys.flatMap((key) => [{ [key]: value }, nest(key, value)]);

  test("unset", () => {
    const nothing = field.kind === "toggle" ? [undefined, null, "", " "] : [undefined, null, "", " ", 0, false];
    for (const raw of nothing.flatMap(sent)) expect(at(parse(raw)), JSON.stringify(raw)).toEqual(unset);
  });

  test("set", () => {
    for (const [value, becomes] of good) for (const raw of sent(value)) expect(at(parse(raw)), JSON.stringify(raw)).toEqual(becomes);
  });

  test("bad", () => {
    for (const value of bad)
      for (const raw of sent(value)) expect(() => parse(raw), JSON.stringify(raw)).toThrow(new RegExp(`^(${keys.join("|")})[.[:]`));
  });
}

function nest(key: string, value: unknown): Record<string, unknown> {
  const [first = "", ...rest] = key.split(".");
  return { [first]: rest.length === 0 ? value : nest(rest.join("."), value) };
}
