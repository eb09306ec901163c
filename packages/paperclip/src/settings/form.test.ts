import type * as host from "@paperclipai/adapter-utils";
import { describe, expect, expectTypeOf, test } from "vitest";
import { CLAUDE, OPENCODE } from "./fields/adapters.ts";
import { type FormField, type FormSchema, formSchema } from "./form.ts";
import { parseConfig } from "./parse.ts";
import { fieldsOf } from "./schema.ts";

test("our types of the form fit the host's own", () => {
  expectTypeOf<FormSchema>().toExtend<host.AdapterConfigSchema>();
  expectTypeOf<FormField>().toExtend<host.ConfigFieldSchema>();
});

/** What the host's create form writes for a field nobody touched: its default, or this; "" is left out. */
function untouched({ type, default: value, options }: FormField): unknown {
  if (value !== undefined) return value;
  return { toggle: false, number: 0, text: "", textarea: "", select: options?.[0]?.value ?? "", combobox: undefined }[type];
}

describe.each([OPENCODE, CLAUDE])("%s", (adapter) => {
  const { fields } = formSchema(adapter);
  const parse = (raw: Record<string, unknown>) => parseConfig(raw, {}, adapter);
  // Its form starts with a limit that an agent made through the API does not get.
  const ownStart = ["maxTurnsPerRun"];

  test("each untouched field, and all of them together, mean the same as unset", () => {
    const kept = fields.filter((field) => !ownStart.includes(field.key));
    for (const field of kept) expect(parse({ [field.key]: untouched(field) }), field.key).toEqual(parse({}));
    expect(parse(Object.fromEntries(kept.map((field) => [field.key, untouched(field)])))).toEqual(parse({}));
  });

  test("what the edit form sends for a cleared field means unset", () => {
    for (const field of fields.filter(({ type }) => type !== "toggle" && type !== "select")) {
      const cleared = field.type === "number" ? 0 : undefined;
      expect(parse({ [field.key]: cleared }), field.key).toEqual(parse({}));
    }
  });

  test("every option of a select is accepted", () => {
    for (const field of fields) for (const option of field.options ?? []) expect(() => parse({ [field.key]: option.value })).not.toThrow();
  });

  test("every toggle, number and select says its default", () => {
    for (const field of fields.filter(({ type }) => ["toggle", "number", "select"].includes(type)))
      expect(field.default, field.key).toBeDefined();
  });

  test("nothing that the platform's form already has, nothing twice, nothing without label and hint", () => {
    const platform = ["model", "command", "effort", "thinkingEffort", "variant", "extraArgs", "args", "env", "timeoutSec", "graceSec"];
    const keys = fields.map((field) => field.key);
    for (const key of [...platform, "promptTemplate", "bootstrapPromptTemplate", "instructionsFilePath", "cwd"])
      expect(keys).not.toContain(key);
    expect(new Set(keys).size).toBe(keys.length);
    for (const field of fields) expect(`${field.label}: ${field.hint}`).toMatch(/^[A-Z].+: [A-Z][^`]+\.$/);
  });

  test("conditions name fields of the form", () => {
    for (const field of fields) {
      const when = field.meta?.visibleWhen as { key: string } | undefined;
      if (when !== undefined) expect(fields.map(({ key }) => key)).toContain(when.key);
    }
  });

  test("it survives the way over HTTP", () => {
    expect(JSON.parse(JSON.stringify(formSchema(adapter)))).toEqual(formSchema(adapter));
  });
});

test("each adapter has its own settings", () => {
  const only = (adapter: string) => fieldsOf(adapter).flatMap((field) => (field.adapters === null ? [] : [field.key]));
  expect(only(OPENCODE)).toEqual(["agentDbMode", "agentDbStorageClass", "agentDbStorageCapacity"]);
  expect(only(CLAUDE)).toEqual(["maxTurnsPerRun", "enableRtk", "rtkMaxOutputBytes"]);
});

test("what a person chose in the form is kept", () => {
  expect(parseConfig({ dangerouslySkipPermissions: false, reattachOrphanedJobs: false }, {})).toMatchObject({
    dangerouslySkipPermissions: false,
    reattachOrphanedJobs: false,
  });
});
