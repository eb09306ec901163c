import type * as host from "@paperclipai/adapter-utils";
import { describe, expect, expectTypeOf, test } from "vitest";
import { loadKits } from "../packages/adapters.ts";
import type { FormField } from "../packages/paperclip/src/host/types.ts";
import { formSchema } from "../packages/paperclip/src/settings/form.ts";
import { parseConfig } from "../packages/paperclip/src/settings/parse.ts";
import { fieldsOf } from "../packages/paperclip/src/settings/schema.ts";
import { exampleCli } from "../packages/paperclip/src/testing/example-cli.ts";

// The form of every adapter that there is, and of one that has nothing of its own.

const clis = [exampleCli, ...Object.values(await loadKits()).map(({ cli }) => cli)];

test("our types of the form fit the host's own", () => {
  expectTypeOf<ReturnType<typeof formSchema>>().toExtend<host.AdapterConfigSchema>();
  expectTypeOf<FormField>().toExtend<host.ConfigFieldSchema>();
});

/** What the host's create form writes for a field nobody touched: its default, or this; "" is left out. */
function untouched({ type, default: value, options }: FormField): unknown {
  if (value !== undefined) return value;
  return { toggle: false, number: 0, text: "", textarea: "", select: options?.[0]?.value ?? "", combobox: undefined }[type];
}

describe.each(clis)("$type", (cli) => {
  const { fields } = formSchema(cli);
  const parse = (raw: Record<string, unknown>) => parseConfig(raw, {}, cli);
  // A form may start with a limit that an agent made through the API does not get.
  const ownStart = fieldsOf(cli).flatMap(({ key, form, unset }) => (form?.type === "number" && form.default !== unset ? [key] : []));

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
    expect(JSON.parse(JSON.stringify(formSchema(cli)))).toEqual(formSchema(cli));
  });
});

test("what a person chose in the form is kept", () => {
  expect(parseConfig({ dangerouslySkipPermissions: false, reattachOrphanedJobs: false }, {}, exampleCli)).toMatchObject({
    dangerouslySkipPermissions: false,
    reattachOrphanedJobs: false,
  });
});
