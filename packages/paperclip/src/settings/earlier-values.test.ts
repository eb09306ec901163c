import { describe, expect, test } from "vitest";
import { isRecord } from "../host/context-values.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { checkSettings } from "../upgrade/check-settings.ts";
import { ConfigError } from "./config-error.ts";
import type { Field } from "./field.ts";
import { parseConfig, parseSettings } from "./parse.ts";
import { look } from "./read.ts";
import { commonFields } from "./schema.ts";
import { type Effect, type Effects, NEW_SETTINGS, ROWS, VALUES } from "./testing/earlier-table.ts";

// An agent that ran with a stored value goes on running with it: testing/earlier-table.ts says how.

const word = (value: unknown) => (typeof value === "string" && value.trim() !== "" ? value : undefined);
/** What the earlier adapters made of a value; undefined = they ignored it. */
const EARLIER: Readonly<Record<Field<unknown>["kind"], (value: unknown) => unknown>> = {
  text: word,
  choice: word,
  promise: word,
  number: (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined),
  toggle: (value) => (typeof value === "boolean" ? value : undefined),
  list: (value) => (Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined),
  tolerations: (value) => (Array.isArray(value) ? value : undefined),
  env: (value) => (isRecord(value) ? texts(value) : undefined),
  map: (value) => {
    if (isRecord(value)) return texts(value);
    if (typeof value !== "string") return undefined;
    const parsed = tryJson(value);
    if (isRecord(parsed)) return texts(parsed);
    const pairs = value.split("\n").flatMap((line) => (line.indexOf("=") > 0 ? [line.split("=") as [string, string]] : []));
    return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
  },
};
const texts = (value: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => typeof item === "string"));
const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

interface Now {
  readonly refused: boolean;
  readonly value: unknown;
  readonly warnings: readonly string[];
}

function now(field: Field<unknown>, value: unknown): Now {
  const raw = { [field.key]: value };
  try {
    const { notes } = parseSettings(raw, {}, exampleCli);
    // Remarks on values that are used as they are.
    const about = notes.filter(({ setting, text }) => setting === field.key && !/if the server (was down|is lost)/.test(text));
    return { refused: false, value: look(field, [raw]).value ?? field.unset, warnings: about.map(({ message }) => message) };
  } catch (error) {
    if (!(error instanceof ConfigError) || !error.field.startsWith(field.key)) throw error;
    return { refused: true, value: undefined, warnings: [] };
  }
}

/** What an effect promises. */
const PROMISES: Readonly<Record<Effect, (field: Field<unknown>, value: unknown, found: Now) => void>> = {
  same(field, value, found) {
    expect(found).toEqual({ refused: false, value: EARLIER[field.kind](value), warnings: [] });
  },
  "not set"(field, value, found) {
    expect(found).toEqual({ refused: false, value: field.unset, warnings: [] });
    expect([undefined, 0, false]).toContain(EARLIER[field.kind](value));
  },
  "in part"(field, value, found) {
    expect(found).toEqual({ refused: false, value: EARLIER[field.kind](value), warnings: [expect.stringContaining(": ")] });
  },
  nearly(field, value, found) {
    expect(found).toMatchObject({ refused: false, warnings: [expect.stringContaining(": ")] });
    expect(found.value).not.toEqual(field.unset);
    expect(EARLIER[field.kind](value)).toBeDefined();
  },
  "used now"(field, value, found) {
    expect(found).toMatchObject({ refused: false, warnings: [] });
    expect(EARLIER[field.kind](value)).toBeUndefined();
    expect(checkSettings(exampleCli, { [field.key]: value })).toContainEqual(
      expect.objectContaining({ setting: field.key, kind: "changed", text: expect.stringContaining("now it is used") }),
    );
  },
  warned(field, value, found) {
    expect(found).toEqual({ refused: false, value: field.unset, warnings: [expect.any(String)] });
    // By the name on the agent's page, and with the effect.
    expect(found.warnings[0]).toMatch(field.label === null ? `${field.key}: ` : field.label);
    expect(found.warnings[0]).toMatch(/: is ignored: .*; it counts as not set|left out: /);
    const findings = checkSettings(exampleCli, { [field.key]: value });
    expect(findings).toContainEqual(expect.objectContaining({ setting: field.key, label: field.label }));
    expect(findings.filter(({ kind }) => kind === "refused")).toEqual([]);
  },
  refused(field, value, found) {
    expect(found.refused).toBe(true);
    // It was given to Kubernetes, or named a file.
    expect(EARLIER[field.kind](value)).toBeDefined();
    expect(checkSettings(exampleCli, { [field.key]: value })).toContainEqual(
      expect.objectContaining({ setting: field.key, kind: "refused" }),
    );
  },
};

test("every setting has a row, or is new", () => {
  expect([...Object.keys(ROWS), ...NEW_SETTINGS].sort()).toEqual(Object.keys(commonFields).sort());
});

test("every row has an effect for each type", () => {
  for (const [name, { effects }] of Object.entries(ROWS)) expect(Object.keys(effects).sort(), name).toEqual(Object.keys(VALUES).sort());
});

describe.each(Object.entries(ROWS))("%s", (name, { own, effects }) => {
  const field: Field<unknown> = commonFields[name as keyof typeof commonFields];

  test("its own kind of value means the same", () => {
    PROMISES.same(field, own, now(field, own));
  });

  test.each(Object.keys(VALUES) as (keyof Effects)[])("%s", (type) => {
    PROMISES[effects[type]](field, VALUES[type], now(field, VALUES[type]));
  });
});

test("a list of tolerations as text, which the form saves, was ignored and is used now; one that Kubernetes would refuse is ignored still", () => {
  const field: Field<unknown> = commonFields.tolerations;
  PROMISES["used now"](field, '[{"key":"a","operator":"Exists"}]', now(field, '[{"key":"a","operator":"Exists"}]'));
  PROMISES.warned(field, '[{"key":"a","operator":"In"}]', now(field, '[{"key":"a","operator":"In"}]'));
});

test("a value that is ignored leaves the operator's default in force, and the warning names it", () => {
  const config = parseConfig({ runtimeClassName: { none: true }, image: 5 }, {}, exampleCli, { runtimeClassName: "gvisor" });
  expect(config).toMatchObject({ runtimeClassName: "gvisor", image: null });
  expect(config.warnings).toEqual([
    "Image: is ignored: must be text, not a number; it counts as not set (default: the server pod's)",
    "Runtime class (runtimeClassName): is ignored: must be text, not an object; it counts as not set (default: gvisor, by the operator's policy)",
  ]);
});

test.each([null, undefined, 5, "text", ["model"], true])("settings that are no object are none: %j", (raw) => {
  expect(parseSettings(raw, {}, exampleCli)).toEqual(parseSettings({}, {}, exampleCli));
});

test("a warning stays short, whatever an agent has written", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `line-${index}-${"x".repeat(1000)}`);
  const texts = Object.fromEntries(many.map((name) => [name.replaceAll("-", "_"), 5]));
  const raw = {
    labels: Object.fromEntries(many.map((name) => [name, null])),
    extraArgs: many.map(() => 5),
    env: texts,
    tolerations: { many },
  };
  const { warnings } = parseConfig(raw, {}, exampleCli);
  expect(warnings).toHaveLength(4);
  for (const text of warnings) expect(text.length).toBeLessThan(1500);
});
