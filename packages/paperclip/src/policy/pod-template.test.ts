import { readFileSync } from "node:fs";
import fc from "fast-check";
import { CORE_SCHEMA, load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { parsePolicy } from "./parse-policy.ts";
import { EMPTY_TEMPLATE } from "./pod-template.ts";

const parse = (template: unknown) => parsePolicy({ podTemplates: { db: template } }, "/etc/policy.yaml");
const problemsOf = (template: unknown) => parse(template).problems;

test("a template without keys is an empty one", () => {
  for (const empty of [null, {}]) expect(parse(empty)).toMatchObject({ policy: { podTemplates: { db: EMPTY_TEMPLATE } }, problems: [] });
});

test("the guide's example is read as it stands", () => {
  const guide = readFileSync(new URL("../../../../docs/policy.md", import.meta.url), "utf8");
  const [, text = ""] = /^```yaml\n(podTemplates:\n[\s\S]*?)^```$/m.exec(guide) ?? [];
  const { policy, problems } = parsePolicy(load(text, { schema: CORE_SCHEMA }), "/etc/policy.yaml");
  expect(problems).toEqual([]);
  expect(policy.podTemplates.postgres).toMatchObject({
    containers: [{ name: "postgres", startupProbe: { exec: {} } }],
    volumes: [{ name: "postgres-data" }],
    agent: { volumeMounts: [], env: [{ name: "PGHOST" }, { name: "PGUSER" }] },
  });
});

test("every key is read", () => {
  const template = {
    containers: [{ name: "db", image: "db:1", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
    initContainers: [{ name: "seed", image: "seed:1", restartPolicy: "Always" }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: "cache" } }],
    agent: { volumeMounts: [{ name: "data", mountPath: "/cache", readOnly: true }], env: [{ name: "X", valueFrom: { fieldRef: {} } }] },
    labels: { db: "yes" },
    annotations: { "example.com/a": "any text" },
    priorityClassName: "low",
    runtimeClassName: "gvisor",
    schedulerName: "other",
    nodeSelector: { disk: "fast" },
    tolerations: [{ key: "db", operator: "Exists" }],
    affinity: { podAntiAffinity: {} },
    dnsConfig: { searches: ["a"] },
    topologySpreadConstraints: [{ maxSkew: 1 }],
    hostAliases: [{ ip: "10.0.0.1", hostnames: ["db"] }],
  };
  const { policy, problems } = parse({ ...template, imagePullSecrets: [{ name: "pull" }] });
  expect(problems).toEqual([]);
  expect(policy.podTemplates.db).toEqual({ ...template, imagePullSecrets: ["pull"] });
});

describe("refused when the file is read, by name", () => {
  const container = (changes: object) => ({ containers: [{ name: "db", image: "db:1", ...changes }] });
  const volume = (changes: object) => ({ volumes: [{ name: "data", ...changes }] });
  const mount = (mountPath: string) => ({
    volumes: [{ name: "data", emptyDir: {} }],
    agent: { volumeMounts: [{ name: "data", mountPath }] },
  });
  const variable = (name: string) => ({ agent: { env: [{ name, value: "x" }] } });

  test.each<[string, object, string]>([
    ["a container named like ours", container({ name: "agent-tools" }), 'containers[0].name: "agent-tools" is a name of the run\'s own'],
    ["a volume named like ours", volume({ name: "shared", emptyDir: {} }), 'volumes[0].name: "shared" is a name of the run\'s own'],
    [
      "a mount over the volume",
      mount("/paperclip/cache"),
      "agent.volumeMounts[0].mountPath: /paperclip/cache would hide what the run has at /paperclip",
    ],
    ["a mount over the home", mount("/agent/home"), "would hide what the run has at /agent"],
    ["a mount over the temporary folder", mount("/tmp"), "would hide what the run has at /tmp"],
    ["a mount over the runner", mount("/run"), "would hide what the run has at /run/agent-input"],
    ["a mount over the tools", mount("/opt/agent-tools/bin"), "would hide what the run has at /opt/agent-tools"],
    ["a variable that steers the runner", variable("NODE_OPTIONS"), "agent.env[0].name: NODE_OPTIONS is set by the run itself"],
    ["the home", variable("HOME"), "agent.env[0].name: HOME is set by the run itself"],
    ["restartPolicy", { restartPolicy: "Always" }, "restartPolicy: a template cannot have it: a run's pod is never restarted"],
    ["a deadline", { activeDeadlineSeconds: 5 }, "activeDeadlineSeconds: a template cannot have it: it would end the pod"],
    ["a grace", { terminationGracePeriodSeconds: 0 }, "terminationGracePeriodSeconds: a template cannot have it"],
    ["a service account", { serviceAccountName: "admin" }, "serviceAccountName: a template cannot have it: the agent would get its token"],
    ["a token", { automountServiceAccountToken: true }, "automountServiceAccountToken: a template cannot have it"],
    ["shared processes", { shareProcessNamespace: true }, "shareProcessNamespace: a template cannot have it"],
    ["the node's processes", { hostPID: true }, "hostPID: a template cannot have it"],
    ["the node's network", { hostNetwork: true }, "hostNetwork: a template cannot have it"],
    ["the pod's user", { securityContext: { runAsUser: 0 } }, "securityContext: a template cannot have it"],
    ["hostPath", volume({ hostPath: { path: "/" } }), "volumes[0].hostPath: the pod would write to its node"],
    ["a projected token", volume({ projected: { sources: [] } }), "volumes[0].projected: it may carry a service account's token"],
    ["an unknown kind of volume", volume({ gitRepo: {} }), "volumes[0].gitRepo: there is no such kind of volume"],
    ["a volume of two kinds", volume({ emptyDir: {}, secret: {} }), "volumes[0]: must have a name and exactly one of"],
    [
      "a volume that is not there",
      container({ volumeMounts: [{ name: "agent-input", mountPath: "/in" }] }),
      '"agent-input" is not among the volumes',
    ],
    ["a port of the node", container({ ports: [{ hostPort: 5432 }] }), "containers[0].ports[0].hostPort: opens a port of the node"],
    ["a container that is not restarted", container({ restartPolicy: "Never" }), "containers[0].restartPolicy: is not for you to set"],
    ["a container without an image", { containers: [{ name: "db" }] }, "containers[0].image: is missing"],
    [
      "a misspelt key of a container",
      container({ volumeMount: [] }),
      "containers[0].volumeMount: there is no such key; did you mean volumeMounts?",
    ],
    ["a number as a variable", container({ env: [{ name: "A", value: 5 }] }), "containers[0].env[0].value: must be a text, not 5"],
    ["a label of ours", { labels: { "paperclip.io/run-id": "x" } }, "labels.paperclip.io/run-id: is a key of Kubernetes' or the run's own"],
    ["an annotation of ours", { annotations: { "paperclip.io/output": "/x" } }, "annotations.paperclip.io/output: is a key of"],
    ["a misspelt key", { container: [] }, "container: there is no such key; did you mean containers?"],
    [
      "two of one name",
      { containers: [{ name: "db", image: "a" }], initContainers: [{ name: "db", image: "b" }] },
      'more than one container named "db"',
    ],
  ])("%s", (_, template, problem) => {
    const [found, ...others] = problemsOf(template);
    expect(found).toContain(problem);
    expect(found).toMatch(/^podTemplates\.db/);
    expect(others).toEqual([]);
  });

  test("a name that no setting can have, and one that is not offered", () => {
    expect(parsePolicy({ podTemplates: { "My DB": {} } }, "f").problems).toEqual([
      expect.stringContaining("podTemplates: must be a Kubernetes name"),
    ]);
    expect(
      parsePolicy({ podTemplates: { db: {} }, defaults: { podTemplate: "cache" }, force: { podTemplate: "db" } }, "f").problems,
    ).toEqual(['defaults.podTemplate: "cache" is not among podTemplates']);
  });

  test("a template that refers to itself, or says too much", () => {
    const self: Record<string, unknown> = {};
    self.affinity = self;
    const large = { hostAliases: Array.from({ length: 20_000 }, () => ({})) };
    for (const template of [self, large]) expect(problemsOf(template)).toEqual([expect.stringContaining("is too large or too deep")]);
  });
});

/** Templates that are partly right, so that the readers get beyond the first key. */
const anyPart = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      name: fc.oneof(fc.constantFrom("db", "agent", "shared", "__proto__"), fc.jsonValue()),
      image: fc.oneof(fc.constant("db:1"), fc.jsonValue()),
      env: fc.array(fc.oneof(fc.record({ name: fc.string(), value: fc.jsonValue() }), fc.jsonValue())),
      volumeMounts: fc.array(fc.oneof(fc.record({ name: fc.string(), mountPath: fc.jsonValue() }), fc.jsonValue())),
      ports: fc.jsonValue(),
      emptyDir: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);
const anyTemplate = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      containers: fc.oneof(fc.array(anyPart), fc.jsonValue()),
      initContainers: fc.array(anyPart),
      volumes: fc.oneof(fc.array(anyPart), fc.jsonValue()),
      agent: fc.oneof(fc.record({ env: fc.array(anyPart), volumeMounts: fc.array(anyPart) }), fc.jsonValue()),
      labels: fc.jsonValue(),
      tolerations: fc.jsonValue(),
      imagePullSecrets: fc.jsonValue(),
      affinity: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);

test("whatever the file says, it is read or its problems are listed", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(fc.constantFrom("db", "__proto__"), fc.string()), anyTemplate), (podTemplates) => {
      const { policy, problems } = parsePolicy({ podTemplates }, "f");
      for (const problem of problems) expect(typeof problem).toBe("string");
      expect(() => JSON.stringify(policy)).not.toThrow();
    }),
  );
});
