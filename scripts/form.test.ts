import type * as host from "@paperclipai/adapter-utils";
import { describe, expect, expectTypeOf, test } from "vitest";
import { loadKits } from "../packages/adapters.ts";
import { CATALOGUE } from "../packages/paperclip/src/doctor/catalogue.ts";
import type { FormField } from "../packages/paperclip/src/host/types.ts";
import { type FormFacts, formSchema } from "../packages/paperclip/src/settings/form.ts";
import { parseConfig } from "../packages/paperclip/src/settings/parse.ts";
import { fieldsOf } from "../packages/paperclip/src/settings/schema.ts";
import { exampleCli } from "../packages/paperclip/src/testing/example-cli.ts";

// The form of every adapter that there is, and of one that has nothing of its own.

const clis = [exampleCli, ...Object.values(await loadKits()).map(({ cli }) => cli)];

test("our types of the form fit the host's own", () => {
  expectTypeOf<ReturnType<typeof formSchema>>().toExtend<host.AdapterConfigSchema>();
  expectTypeOf<FormField>().toExtend<host.ConfigFieldSchema>();
});

/** Every setting is the agent's choice. */
const OPEN: FormFacts = { fixed: new Set(), needed: new Set(), defaults: {} };

/** What the host's create form writes for a field nobody touched: its default, or this; "" is left out. */
function untouched({ type, default: value, options }: FormField): unknown {
  if (value !== undefined) return value;
  return { toggle: false, number: 0, text: "", textarea: "", select: options?.[0]?.value ?? "", combobox: undefined }[type];
}

describe.each(clis)("$type", (cli) => {
  const { fields } = formSchema(cli, OPEN);
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

  test("what most people set stands above the switch, everything else below it and hidden by it", () => {
    const place = fields.findIndex(({ key }) => key === "showAllSettings");
    expect(fields.slice(0, place).map(({ label }) => label)).toEqual(
      expect.arrayContaining(["Image", "CPU limit", "Memory limit", "Concurrency"]),
    );
    expect(place).toBeLessThanOrEqual(5);
    for (const field of fields.slice(0, place + 1)) expect(field.meta, field.key).toBeUndefined();
    // The host compares texts: with the boolean the field would always be shown.
    for (const field of fields.slice(place + 1))
      expect(field.meta, field.key).toEqual({ visibleWhen: { key: "showAllSettings", value: "true" } });
  });

  test("the host's newer form sorts fields by their keys: the switch and the first fields stay together", () => {
    const place = fields.findIndex(({ key }) => key === "showAllSettings");
    const elsewhere =
      /timeout|grace|lifecycle|^(model|provider|command|agentCommand|args|extraArgs|env|envVars|environmentVariables|mode|sessionMode|persistSession|sessionKeyStrategy|warmHandleIdleMs)$/i;
    for (const { key } of fields.slice(0, place + 1)) expect(key).not.toMatch(elsewhere);
  });

  test("what the server needs comes first; what it decides is shown only while it is set", () => {
    const facts = { fixed: new Set(["image", "retainJobs", "inherit"]), needed: new Set(["kubeconfig", "image"]), defaults: {} };
    const all = formSchema(cli, facts).fields;
    const place = all.findIndex(({ key }) => key === "showAllSettings");
    expect(all.slice(0, place).map(({ key }) => key)).toContain("kubeconfig");
    const conditionOf = (key: string) => all.slice(place).find((field) => field.key === key)?.meta?.visibleWhen;
    expect(conditionOf("image")).toEqual({ key: "image", notValues: ["", ""] });
    expect(conditionOf("retainJobs")).toEqual({ key: "retainJobs", notValues: ["", "false"] });
    expect(conditionOf("inherit")).toEqual({ key: "inherit", notValues: ["", "listed"] });
    expect(all.map(({ key }) => key).sort()).toEqual(fields.map(({ key }) => key).sort());
  });

  test("the policy's defaults: shown where the form shows one, else named in the hint and written nowhere", () => {
    const defaults = { "resources.limits.memory": "4Gi", image: "r.io/agents:1" };
    const all = formSchema(cli, { ...OPEN, defaults }).fields;
    const of = (key: string) => all.find((field) => field.key === key);
    expect(of("resources.limits.memory")?.default).toBe("4Gi");
    expect(of("image")).toMatchObject({ hint: expect.stringContaining("Default: r.io/agents:1, by the operator's policy.") });
    expect(of("image")).not.toHaveProperty("default");
  });

  test("hints speak of labels, never of keys or stored values", () => {
    const names = fieldsOf(cli).flatMap(({ key, aliases, form }) => [key, ...aliases, ...(form?.options ?? []).map(({ value }) => value)]);
    // Others, such as "image", are plain words as well.
    const telling = names.filter((name) => /[a-z][A-Z]|[._]/.test(name) || name === "env");
    expect(telling).toContain("timeoutSec");
    const hints = [...fields.map(({ hint }) => hint ?? ""), ...Object.values(CATALOGUE).map(([, todo]) => todo)];
    for (const hint of hints)
      for (const name of telling) expect(` ${hint} `).not.toMatch(new RegExp(`[^\\w/]${name.replaceAll(".", "\\.")}[^\\w]`));
  });

  test("it survives the way over HTTP", () => {
    expect(JSON.parse(JSON.stringify(formSchema(cli, OPEN)))).toEqual(formSchema(cli, OPEN));
  });
});

test("what a person chose in the form is kept", () => {
  expect(parseConfig({ dangerouslySkipPermissions: false, reattachOrphanedJobs: false }, {}, exampleCli)).toMatchObject({
    dangerouslySkipPermissions: false,
    reattachOrphanedJobs: false,
  });
});
