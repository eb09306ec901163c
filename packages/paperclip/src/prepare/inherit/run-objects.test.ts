import type { LookUp } from "@paperclip-k8s/engine";
import { describe, expect, test } from "vitest";
import { DEFAULT_POLICY, type Policy } from "../../policy/policy.ts";
import { ConfigError } from "../../settings/config-error.ts";
import { inheritFrom } from "./inherit-from.ts";
import { meansSameNames, objectLabel, RunObjects } from "./run-objects.ts";
import { examplePod, exampleSettings, exampleVariables, volume } from "./testing/example-pod.ts";

describe("another namespace in which the same names are meant", () => {
  const reference = (name: string, optional = false) => ({ secretKeyRef: { name, key: "k", ...(optional && { optional }) } });
  const pod = examplePod({
    env: [
      { name: "OPENAI_API_KEY", valueFrom: reference("keys") },
      { name: "GROQ_API_KEY", valueFrom: reference("other-keys") },
      { name: "MISTRAL_API_KEY", valueFrom: reference("extra-keys", true) },
      { name: "NODE_EXTRA_CA_CERTS", value: "/etc/corp/ca.pem" },
      { name: "DATABASE_URL", valueFrom: reference("database") },
    ],
    envFrom: [
      { kind: "secret", name: "whole", prefix: "", optional: false },
      { kind: "configMap", name: "whole-settings", prefix: "", optional: true },
    ],
    secretVolumes: [volume("corp-ca", "/etc/corp"), volume("database", "/etc/database")],
    configMapVolumes: [volume("system-ca", "/etc/ssl/certs"), volume("more-ca", "/etc/pki", { optional: true })],
  });
  const settings = exampleSettings({ namespace: "team", inheritNames: ["whole", "whole-settings"] });
  const run = (look: (label: string) => LookUp, env: NodeJS.ProcessEnv = {}) => {
    const asked: string[] = [];
    const elsewhere = new RunObjects("same-names", (kind, name) => {
      asked.push(objectLabel(kind, name));
      return look(objectLabel(kind, name));
    });
    return { ...inheritFrom(pod, settings, { variables: exampleVariables, env, elsewhere }), asked: new Set(asked) };
  };
  const there = (): LookUp => ({ state: "there" });
  const unseen = (): LookUp => ({ state: "unseen", why: "not allowed" });
  const without = (missing: string) => (label: string) => (label === missing ? ({ state: "missing" } as const) : there());

  test("what is there is used by name, as in the server's own namespace, also where the server knows its own value", () => {
    const inherited = run(there, { OPENAI_API_KEY: "the server's own" });
    expect(inherited).toMatchObject({
      namespace: "team",
      claim: { name: "shared", mountPath: "/paperclip" },
      imagePullSecrets: ["registry"],
      secretVolumes: [{ name: "corp-ca" }],
      configMapVolumes: [{ name: "system-ca" }, { name: "more-ca" }],
      warnings: [],
    });
    expect(inherited.env.references.map(({ name }) => name)).toEqual(["OPENAI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY"]);
    expect(inherited.env.from.map(({ name }) => name)).toEqual(["whole", "whole-settings"]);
    expect(inherited.env.literals).toEqual({ NODE_EXTRA_CA_CERTS: "/etc/corp/ca.pem" });
    const [line] = inherited.notes.filter((note) => note.startsWith("of the same name in namespace team"));
    for (const label of ["claim shared", "Secret registry", "Secret keys", "ConfigMap system-ca"]) expect(line).toContain(label);
  });

  test("nothing is looked up that no run would have", () => {
    expect([...run(there).asked]).not.toContain("Secret database");
  });

  test("what nobody can look at is taken by name, with a note; a value that the server has is copied instead", () => {
    const inherited = run(unseen, { OPENAI_API_KEY: "the server's own" });
    expect(inherited).toMatchObject({ claim: { name: "shared" }, imagePullSecrets: ["registry"], secretVolumes: [{ name: "corp-ca" }] });
    expect(inherited.env.literals.OPENAI_API_KEY).toBe("the server's own");
    expect(inherited.env.references.map(({ name }) => name)).toEqual(["GROQ_API_KEY", "MISTRAL_API_KEY"]);
    expect(inherited.warnings).toEqual([]);
    const [line] = inherited.notes.filter((note) => note.startsWith("taken by name in namespace team, without a look"));
    expect(line).toMatch(/\(not allowed\): .*ConfigMap system-ca, .*Secret corp-ca, .*Secret other-keys, .*claim shared/);
    expect(line).not.toContain("Secret keys");
  });

  test.each([
    ["Secret other-keys", /has no Secret or ConfigMap of that name; make it there.*: GROQ_API_KEY \(Secret other-keys\)$/],
    ["Secret whole", /has no Secret or ConfigMap of that name.*: Secret whole$/],
    ["Secret registry", /^pull secrets not taken: .*none of that name; make them there.*: registry$/],
    ["ConfigMap system-ca", /^files not taken: .*: ConfigMap system-ca at \/etc\/ssl\/certs$/],
    ["Secret corp-ca", /volumes that runs do not have: NODE_EXTRA_CA_CERTS \(Secret corp-ca at \/etc\/corp\)$/],
  ])("%s is missing: left out by name, and the rest is there", (label, warning) => {
    const inherited = run(without(label));
    expect(inherited.warnings).toEqual([expect.stringMatching(warning)]);
    expect(inherited.claim.name).toBe("shared");
  });

  test.each(["Secret extra-keys", "ConfigMap whole-settings", "ConfigMap more-ca"])("%s is missing and optional: nobody minds", (label) => {
    const { env, warnings } = run(without(label));
    expect(warnings).toEqual([]);
    expect(env.references.map(({ name }) => name)).toContain("MISTRAL_API_KEY");
    expect(env.from.map(({ name }) => name)).toContain("whole-settings");
  });

  test("of a missing Secret, the value that the server has is copied", () => {
    const { env, warnings } = run(without("Secret keys"), { OPENAI_API_KEY: "the server's own" });
    expect(env.literals.OPENAI_API_KEY).toBe("the server's own");
    expect(warnings).toEqual([]);
  });

  test("without its claim no run can be: refused by name, with what to do", () => {
    const call = () => run(without("claim shared"));
    expect(call).toThrow(ConfigError);
    expect(call).toThrow(
      /^dataClaim: namespace team has no claim shared\. Make one there that holds the same files.*or name another claim/,
    );
  });
});

test.each<[string, Partial<Policy["allow"]>, boolean]>([
  ["no namespace that the policy does not list", {}, false],
  ["those that it lists in full", { namespaces: ["team-a"] }, true],
  ["not those that only a pattern allows", { namespaces: ["team-*"] }, false],
  ["unless it says so", { namespaces: ["team-*"], sameNames: ["team-*"] }, true],
  ["nor one that it takes out again", { namespaces: ["team-a"], sameNames: ["!team-a"] }, false],
])("in which namespaces the same names are meant: %s", (_, allow, expected) => {
  expect(meansSameNames({ allow: { ...DEFAULT_POLICY.allow, ...allow } }, "team-a")).toBe(expected);
});
