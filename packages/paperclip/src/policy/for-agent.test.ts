import { describe, expect, test } from "vitest";
import { named } from "../settings/field.ts";
import { toggle } from "../settings/kinds/scalar.ts";
import { parseConfig } from "../settings/parse.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { enforce } from "./enforce.ts";
import { enforceLikePod } from "./enforce-pod.ts";
import { type Agent, forAgent } from "./for-agent.ts";
import { parsePolicy } from "./parse-policy.ts";
import type { Policy } from "./policy.ts";

const ATLAS: Agent = { id: "a-1", companyId: "c-1", name: "Atlas", role: "engineer" };
const FACTS = { env: {}, namespaces: ["paperclip"], container: "agent", isBuiltIn: () => false, isSetByHost: () => false };

function policyOf(value: unknown): Policy {
  const { policy, problems } = parsePolicy(value, "/etc/policy.yaml");
  expect(problems).toEqual([]);
  return policy;
}

const rule = (match: unknown, defaults: unknown) => ({ match, defaults });
const memory = (limit: string) => ({ resources: { limits: { memory: limit } } });

/** What an agent gets, and what it is refused. */
function got(file: unknown, agent: Agent = ATLAS, own: Record<string, unknown> = {}) {
  const { policy, defaults } = forAgent(policyOf(file), agent, exampleCli);
  const config = parseConfig(own, {}, exampleCli, defaults);
  const found = [...enforce(config, policy, FACTS).found, ...enforceLikePod(config, policy, null).found];
  return { config, memory: config.resources.limits.memory, refused: found.map(({ field }) => field) };
}

describe("which rules fit", () => {
  test.each<[unknown, boolean]>([
    [{ id: "a-1" }, true],
    [{ id: ["a-0", "a-1"] }, true],
    [{ id: "a-2" }, false],
    [{ company: "c-1" }, true],
    [{ company: "c-2" }, false],
    [{ name: "Atlas" }, true],
    [{ name: "At*" }, true],
    [{ name: "atlas" }, false],
    [{ name: ["*", "!Atlas"] }, false],
    [{ role: ["qa", "engineer"] }, true],
    [{ role: "qa" }, false],
    [{ type: "example_*" }, true],
    [{ type: "other_k8s" }, false],
    [{ company: "c-1", role: "engineer", name: "A*" }, true],
    [{ company: "c-2", role: "engineer" }, false],
  ])("%j: %s", (match, fits) => {
    expect(got({ agents: [rule(match, memory("32Gi"))] }).memory).toBe(fits ? "32Gi" : "8Gi");
  });

  test("what is not known fits nothing, not even what leaves others out", () => {
    for (const match of [{ id: "a-1" }, { name: "*" }, { name: ["*", "!x"] }, { role: "*" }])
      expect(got({ agents: [rule(match, memory("32Gi"))] }, { companyId: "c-1" }).memory, JSON.stringify(match)).toBe("8Gi");
    expect(got({ agents: [rule({ company: "c-1" }, memory("32Gi"))] }, { companyId: "c-1" }).memory).toBe("32Gi");
  });
});

test("a later rule wins over an earlier one, setting by setting, each over defaults, and the agent's own over all", () => {
  const file = {
    defaults: { ...memory("10Gi"), graceSec: 10, image: "a:1" },
    agents: [
      rule({ company: "c-1" }, { ...memory("20Gi"), graceSec: 20 }),
      rule({ name: "Atlas" }, memory("30Gi")),
      rule({ id: "a-2" }, memory("40Gi")),
    ],
  };
  expect(got(file).config).toMatchObject({ graceSec: 20, image: "a:1", resources: { limits: { memory: "30Gi" } } });
  expect(got(file, { ...ATLAS, id: "a-2" }).memory).toBe("40Gi");
  expect(got(file, { ...ATLAS, companyId: "c-2", name: "B" }).memory).toBe("10Gi");
  expect(got(file, ATLAS, memory("3Gi")).memory).toBe("3Gi");
  expect(got({ defaults: memory("10Gi"), agents: [rule({ id: "a-1" }, memory(null as never))] }).memory).toBe("8Gi");
});

describe("what a name can give", () => {
  const MORE = {
    ...memory("256Gi"),
    serviceAccountName: "deployer",
    namespace: "kube-system",
    dataClaim: "database",
    runtimeClassName: "host",
    nodeSelector: { "kubernetes.io/hostname": "n-1" },
    tolerations: [{ operator: "Exists" }],
    labels: { app: "postgres" },
    inherit: "all",
    inheritNames: ["server-keys", "SERVER_KEY"],
    retainJobs: true,
    maxRunSec: 60 * 86_400,
  };

  test("by its id or its company an agent gets more than it may ask for", () => {
    for (const match of [{ id: "a-1" }, { company: "c-1" }, { id: "a-1", name: "Atlas" }])
      expect(got({ agents: [rule(match, MORE)] }).refused, JSON.stringify(match)).toEqual([]);
    expect(got({ defaults: MORE }).refused).toEqual([]);
  });

  test("by a name, role or type that it can take itself it gets no more than it may ask for", () => {
    const asked = got({}, ATLAS, MORE).refused;
    expect(asked.length).toBeGreaterThanOrEqual(Object.keys(MORE).length);
    for (const match of [{ name: "Atlas" }, { role: "engineer" }, { type: "example_*" }, { company: "c-1", name: "Atlas" }])
      expect(got({ agents: [rule(match, MORE)] }).refused, JSON.stringify(match)).toEqual(asked);
    const limits = { memory: "512Gi" };
    expect(got({ limits, agents: [rule({ name: "Atlas" }, memory("256Gi"))] })).toMatchObject({ memory: "256Gi", refused: [] });
  });

  test("no name takes an agent out of the namespace that it was given", () => {
    const file = { defaults: { namespace: "agents" }, agents: [rule({ name: "x" }, { namespace: null })] };
    expect(got(file, { ...ATLAS, name: "x" }, { namespace: "paperclip" }).refused).toEqual(["namespace"]);
  });

  test("a request above the policy's limit takes the limit with it", () => {
    const requests = { resources: { requests: { memory: "32Gi" } } };
    const limits = { memory: "1Gi" };
    expect(got({ limits, agents: [rule({ id: "a-1" }, requests)] })).toMatchObject({ memory: "32Gi", refused: [] });
    expect(got({ limits, agents: [rule({ name: "Atlas" }, requests)] }).refused).toEqual(["resources.limits.memory"]);
    expect(got({ limits, agents: [rule({ id: "a-1" }, { resources: { requests: { memory: "512Mi" } } })] }).memory).toBe("1Gi");
  });

  test("names that nobody expects are only names", () => {
    for (const name of ["*", "!", "__proto__", "constructor", "a".repeat(1_000_000), "Atlas\n", " Atlas", "Atlas\u0000", ""])
      expect(got({ agents: [rule({ name: "Atlas" }, memory("32Gi"))] }, { ...ATLAS, name }).memory, name.slice(0, 20)).toBe("8Gi");
    for (const name of [5, null, ["Atlas"], { toString: () => "Atlas" }])
      expect(got({ agents: [rule({ name: "*" }, memory("32Gi"))] }, { ...ATLAS, name: name as never }).memory).toBe("8Gi");
  });
});

describe("settings that only one CLI has", () => {
  const cli = { ...exampleCli, settings: { own: named({ fast: toggle({ default: false, doc: "" }) }) } };
  const typed = (defaults: unknown, type = "example_k8s") => policyOf({ agents: [rule({ type }, defaults)] });

  test("are given by a rule for its type", () => {
    const { defaults } = forAgent(typed({ fast: true, graceSec: 5 }), ATLAS, cli);
    expect(parseConfig({}, {}, cli, defaults)).toMatchObject({ own: { fast: true }, graceSec: 5 });
    expect(parseConfig({ fast: false }, {}, cli, defaults).own.fast).toBe(false);
  });

  test("that it does not have, or not so, stop its runs, and no others'", () => {
    const why = "the operator's policy /etc/policy.yaml cannot be used, so no run is started: agents[0].defaults.";
    expect(() => forAgent(typed({ fats: true }), {}, cli)).toThrow(`${why}fats: there is no such setting`);
    expect(() => forAgent(typed({ fast: 7 }), {}, cli)).toThrow(`${why}fast: must be true or false, not 7`);
    expect(forAgent(typed({ other: 7 }, "other_k8s"), ATLAS, cli).defaults).toEqual({});
  });

  test("are for no other rule", () => {
    expect(parsePolicy({ agents: [rule({ name: "x" }, { fast: true })] }, "p").problems).toEqual([
      "agents[0].defaults.fast: there is no such setting; one that a single CLI has is given by a rule of agents whose match has a type",
    ]);
  });
});

test.each<[unknown, string]>([
  [{ match: {} }, "agents: must be a list, not an object"],
  [["x"], "agents[0]: must be an object, not a string"],
  [[{ defaults: {} }], "agents[0].match: must have one or more of id, company, name, role, type"],
  [[{ match: {} }], "agents[0].match: must have one or more of id, company, name, role, type"],
  [[{ match: { id: "*" } }], "agents[0].match.id: must be a whole id, or a list of such"],
  [[{ match: { company: "!c" } }], "agents[0].match.company: must be a whole id, or a list of such"],
  [[{ match: { name: [] } }], "agents[0].match.name: must be a text, or a list of such"],
  [[{ match: { name: 5 } }], "agents[0].match.name: must be a text, or a list of such"],
  [[{ match: { names: "x" } }], "agents[0].match.names: there is no such key; did you mean name?"],
  [[{ match: { name: "x" }, set: {} }], "agents[0].set: there is no such key; there are match, defaults"],
  [[rule({ id: "x" }, { dataPath: "/data" })], "agents[0].defaults.dataPath: is the same for all agents of a server: set it in defaults"],
  [[rule({ id: "x" }, { podTemplate: "db" })], 'agents[0].defaults.podTemplate: "db" is not among podTemplates'],
])("refused: %j", (agents, problem) => {
  expect(parsePolicy({ agents }, "p").problems).toContain(problem);
});
