// What forms and people send, by kind of field, for tests that walk every key.
import { expect, test } from "vitest";
import type { AgentConfig } from "../agent-config.ts";
import type { Field, Raw } from "../field.ts";

/** Sent value → what becomes of it; and values that count as not set with a warning, or are refused. */
export interface Case {
  readonly at: (config: AgentConfig) => unknown;
  readonly unset: unknown;
  readonly good: readonly (readonly [sent: unknown, becomes: unknown])[];
  /** Used with a warning that says what of it is not. */
  readonly partly?: readonly (readonly [sent: unknown, becomes: unknown])[];
  readonly ignored?: readonly unknown[];
  readonly bad: readonly unknown[];
}

export const textCase = (at: Case["at"], unset: unknown = null): Case => ({
  at,
  unset,
  good: [
    ["some text", "some text"],
    [" cut ", "cut"],
  ],
  ignored: NO_TEXT,
  bad: ["a\0b"],
});
export const NO_TEXT: readonly unknown[] = [5, -1, Number.NaN, true, [], ["a"], {}, { a: "b" }];
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
  partly: [
    [1.5, 2],
    ["1.5", 2],
    [0.1, 1],
    [max + 1, max],
    [Number.MAX_VALUE, max],
  ],
  ignored: ["soon", -1, "-1", -0.5, "0x10", "1e3", Number.NaN, Number.POSITIVE_INFINITY, true, [], [5], {}],
  bad: [],
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
  ignored: ["maybe", 2, Number.NaN, [], [true], {}],
  bad: [],
});
export const quantityCase = (at: Case["at"], unset: string, good: string): Case => ({
  at,
  unset,
  good: [
    [good, good],
    [` ${good} `, good],
    ["0", unset],
  ],
  ignored: ["lots", "1GB", "-1", "1e", "1e1000", "e3", ".", true, Number.NaN, [], {}],
  bad: [],
});
export const DAY = 86_400;
export const mapGood: Case["good"] = [
  [{ "example.com/a": "b" }, { "example.com/a": "b" }],
  ['{"a": "b", "n": 1, "t": true}', { a: "b", n: "1", t: "true" }],
  ["a=b\nc = d", { a: "b", c: "d" }],
  ["# why\r\na=b\r\n\r\n  c = d  \r\n", { a: "b", c: "d" }],
  ["a=", { a: "" }],
];
export const mapPartly: NonNullable<Case["partly"]> = [
  ["a=b\nc", { a: "b" }],
  ["=b\na=b", { a: "b" }],
  [{ a: "b", c: null, d: {}, e: [1] }, { a: "b" }],
  ['{"a": "b", "c": {}}', { a: "b" }],
];
export const mapIgnored: readonly unknown[] = [
  "a",
  "=b",
  "[1]",
  "5",
  '{"a": {}}',
  "{a: b}",
  "[object Object]",
  [],
  ["a=b"],
  5,
  true,
  { a: null },
];
export const mapBad: readonly unknown[] = ["a b=c", '["a=b"', { "a b": "c" }, { "": "c" }];

/** Sends each value as the form does (dotted), and as people write it (nested). */
export function testSetting(
  field: Field<unknown>,
  { at, unset, good, partly = [], ignored = [], bad }: Case,
  parse: (raw: Raw) => AgentConfig,
): void {
  const keys = [field.key, ...field.aliases];
  const sent = (value: unknown) => keys.flatMap((key) => [{ [key]: value }, nest(key, value)]);

  test("unset", () => {
    const nothing = ["toggle", "promise"].includes(field.kind) ? [undefined, null, "", " "] : [undefined, null, "", " ", 0, false];
    for (const raw of nothing.flatMap(sent)) expect(at(parse(raw)), JSON.stringify(raw)).toEqual(unset);
  });

  test("set", () => {
    for (const [value, becomes] of good) for (const raw of sent(value)) expect(at(parse(raw)), JSON.stringify(raw)).toEqual(becomes);
  });

  const aboutIt = (config: AgentConfig) =>
    config.warnings.filter(
      (text) =>
        text.startsWith(`${field.label ?? field.key}`) || keys.some((key) => text.includes(`(${key})`) || text.startsWith(`${key}: `)),
    );

  test("in part, with one warning", () => {
    for (const [value, becomes] of partly)
      for (const raw of sent(value)) {
        const config = parse(raw);
        expect(at(config), JSON.stringify(raw)).toEqual(becomes);
        expect(
          aboutIt(config).filter((text) => !text.includes("gone if the server was down")),
          JSON.stringify(raw),
        ).toHaveLength(1);
      }
  });

  test("not at all, with one warning", () => {
    for (const value of ignored)
      for (const raw of sent(value)) {
        const config = parse(raw);
        expect(at(config), JSON.stringify(raw)).toEqual(unset);
        expect(aboutIt(config), JSON.stringify(raw)).toEqual([expect.stringContaining(": is ignored: ")]);
      }
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
