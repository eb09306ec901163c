import { expect, test } from "vitest";
import { parsePolicy } from "./parse-policy.ts";
import { DEFAULT_POLICY } from "./policy.ts";

const parse = (value: unknown) => parsePolicy(value, "/etc/policy.yaml");
const problemsOf = (value: unknown) => parse(value).problems;

test("a file that says nothing is the defaults", () => {
  for (const empty of [undefined, null, {}, { allow: null }])
    expect(parse(empty)).toEqual({ policy: { ...DEFAULT_POLICY, source: "/etc/policy.yaml" }, problems: [] });
});

test("every key is read", () => {
  const { policy, problems } = parse({
    defaults: {
      kubeconfig: "/etc/k",
      namespace: "agents",
      image: "a:1",
      serviceAccountName: "runner",
      dataClaim: "data",
      dataPath: "/data",
    },
    allow: { images: ["registry.example/*"], labels: ["defaults", "app"], tolerations: [], inheritAll: true, kubeconfigs: ["/etc/kube/*"] },
    limits: { cpu: 8, memory: "16Gi", runSec: 3600, outputBytes: "2Gi", keepOutputBytes: "64Ki" },
    force: { runtimeClassName: "gvisor", hostUsers: false, labels: { team: "x" }, annotations: { "a.example/b": "any text, really" } },
    volume: { mount: "whole", paths: ["/data/shared", { path: "/data/cache/*", readOnly: false }] },
    seeds: { secret: "agent-home" },
  });
  expect(problems).toEqual([]);
  expect(policy.defaults).toMatchObject({ namespace: "agents", dataPath: "/data" });
  expect(policy.allow).toMatchObject({ images: ["registry.example/*"], tolerations: [], inheritAll: true, retainJobs: false });
  expect(policy.allow.labels).toEqual([...DEFAULT_POLICY.allow.labels, "app"]);
  expect(policy.limits).toMatchObject({
    cpu: "8",
    memory: "16Gi",
    runSec: 3600,
    graceSec: 3600,
    outputBytes: 2 * 1024 ** 3,
    keepOutputBytes: 65_536,
  });
  expect(parsePolicy({ limits: { keepOutputBytes: 0 } }, "p").policy.limits.keepOutputBytes).toBe(0);
  expect(parsePolicy({ limits: { keepOutputBytes: -1 } }, "p").problems).toHaveLength(1);
  expect(policy.force).toMatchObject({ runtimeClassName: "gvisor", hostUsers: false, priorityClassName: null, labels: { team: "x" } });
  expect(policy.volume.paths).toEqual([
    { path: "/data/shared", readOnly: true },
    { path: "/data/cache/*", readOnly: false },
  ]);
  expect(policy.seeds).toEqual({ secret: "agent-home" });
});

test("all problems at once, each with its place", () => {
  expect(
    problemsOf({ allow: { images: ["a", "b", 3], inheritAll: "yes", namespaces: "agents" }, limits: { runSec: 0, memory: "8" } }),
  ).toEqual([
    "allow.namespaces: must be a list of texts, not a string",
    "allow.images[2]: must be a text",
    'allow.inheritAll: must be true or false, not "yes"',
    'limits.memory: "8" is less than 1Mi; did you mean Mi or Gi?',
    "limits.runSec: must be a whole number of seconds above 0, not 0",
  ]);
});

test("an unknown key is refused with the nearest name", () => {
  expect(problemsOf({ alow: {} })).toEqual([
    "alow: there is no such key; there are defaults, agents, allow, limits, force, volume, seeds, podTemplates, tools",
  ]);
  expect(problemsOf({ allow: { serviceAccount: [] } })).toEqual([
    "allow.serviceAccount: there is no such key; did you mean serviceAccounts?",
  ]);
  expect(problemsOf({ volume: { paths: [{ path: "/a", readonly: true }] } })).toEqual([
    "volume.paths[0].readonly: there is no such key; there are path, readOnly",
  ]);
});

test.each([
  ["a list", [], "the file: must be an object, not a list"],
  ["a relative kubeconfig", { allow: { kubeconfigs: ["kube"] } }, 'allow.kubeconfigs[0]: must be an absolute path without ".."'],
  ["a path that leads up", { allow: { files: ["/a/../b"] } }, 'allow.files[0]: must be an absolute path without ".."'],
  ["a default that no agent could set", { defaults: { namespace: "Not A Name" } }, /^defaults\.namespace: must be a Kubernetes name/],
  ["a forced label", { force: { labels: { "a b": "c" } } }, "force.labels.a b: is not a valid label key"],
  ["a label's value", { force: { nodeSelector: { a: "b c" } } }, 'force.nodeSelector.a: "b c" is not a valid label value'],
  ["mount", { volume: { mount: "all" } }, 'volume.mount: must be scoped or whole, not "all"'],
  ["seeds of two places", { seeds: { secret: "a", folder: "/b" } }, "seeds: must be { secret: <name> } or { folder: <absolute path> }"],
  ["a folder without path", { volume: { paths: [{ readOnly: true }] } }, "volume.paths[0].path: must be a text, not a number"],
])("refused: %s", (_, value, problem) => {
  const [found, ...others] = problemsOf(value);
  expect(found).toMatch(typeof problem === "string" ? new RegExp(`^${problem.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`) : problem);
  expect(others).toEqual([]);
});
