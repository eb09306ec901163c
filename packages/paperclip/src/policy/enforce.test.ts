import { expect, test } from "vitest";
import { parseConfig } from "../settings/parse.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { defaultsOf } from "./defaults-of.ts";
import { enforce } from "./enforce.ts";
import { enforceLikePod } from "./enforce-pod.ts";
import { parsePolicy } from "./parse-policy.ts";
import { DEFAULT_POLICY, type Policy } from "./policy.ts";

const server = {
  env: { PAPERCLIP_HOME: "/data" },
  namespaces: ["paperclip"],
  container: "example",
  isBuiltIn: (name: string) => /^(OPENAI_|GIT_)/.test(name),
  isSetByHost: (name: string) => name === "SET_BY_HOST",
};
const pod = {
  claims: [
    { claimName: "data", mountPath: "/data", subPath: null, subPathExpr: null, readOnly: false },
    { claimName: "database", mountPath: "/var/lib/postgres", subPath: null, subPathExpr: null, readOnly: false },
  ],
  nodeSelector: { "kubernetes.io/hostname": "edge-1" },
  tolerations: [{ key: "node-role.kubernetes.io/infra", operator: "Exists" }],
};

function refused(settings: Record<string, unknown>, policy: Policy = DEFAULT_POLICY): string[] {
  const config = parseConfig(settings, server.env, exampleCli, defaultsOf(policy));
  const found = [...enforce(config, policy, server).found, ...enforceLikePod(config, policy, pod).found];
  return found.map(({ field, text }) => `${field}: ${text}`);
}
const policyOf = (value: unknown): Policy => parsePolicy(value, "/etc/policy.yaml").policy;

test("ordinary settings are allowed without a file", () => {
  const ordinary = {
    namespace: "paperclip",
    dataClaim: "data",
    dataPath: "/data",
    serverContainer: "paperclip",
    image: "registry.example/agents:1",
    nodeSelector: { "node.kubernetes.io/instance-type": "m5.large", "topology.kubernetes.io/zone": "a", pool: "agents" },
    tolerations: [{ key: "agents", operator: "Exists", effect: "NoSchedule" }],
    labels: { team: "x", "cost-center": "5" },
    inheritNames: ["OPENAI_API_KEY", "GIT_*"],
    env: { ANY_NAME: "x" },
    resources: { limits: { cpu: "16", memory: "64Gi" } },
    timeoutSec: 7200,
    agentDbMode: "dedicated_pvc",
    agentDbStorageClass: "fast",
  };
  expect(refused({})).toEqual([]);
  expect(refused(ordinary)).toEqual([]);
});

test("what the server's own pod has is allowed, its other claims are not", () => {
  expect(refused({ nodeSelector: { "kubernetes.io/hostname": "edge-1" }, tolerations: [...pod.tolerations] })).toEqual([]);
  expect(refused({ dataClaim: "database" })).toHaveLength(1);
});

/** One dangerous setting each, the field that is named, and what the policy needs to allow it. */
const DANGEROUS: readonly (readonly [settings: Record<string, unknown>, field: string, allow: Record<string, unknown>])[] = [
  [{ namespace: "kube-system" }, "namespace", { namespaces: ["kube-system"] }],
  [{ serviceAccountName: "paperclip" }, "serviceAccountName", { serviceAccounts: ["paperclip"] }],
  [{ dataClaim: "postgres" }, "dataClaim", { claims: ["postgres"] }],
  [{ dataPath: "/etc" }, "dataPath", { dataPaths: ["/etc"] }],
  [{ serverContainer: "vault-agent" }, "serverContainer", { serverContainers: ["vault-agent"] }],
  [{ inherit: "all" }, "inherit", { inheritAll: true }],
  [{ inheritNames: ["DATABASE_PASSWORD"] }, "inheritNames", { inheritedEnvironment: ["DATABASE_PASSWORD"] }],
  [{ inheritNames: ["paperclip-secrets"] }, "inheritNames", { secrets: ["paperclip-secrets"] }],
  [{ inheritNames: ["paper*"] }, "inheritNames", { secrets: ["paper*"] }],
  [{ retainJobs: true }, "retainJobs", { retainJobs: true }],
  [{ runtimeClassName: "privileged" }, "runtimeClassName", { runtimeClasses: ["privileged"] }],
  [{ labels: { app: "postgres" } }, "labels", { labels: ["defaults", "app"] }],
  [{ labels: { "azure.workload.identity/use": "true" } }, "labels", { labels: ["defaults", "azure.workload.identity/use"] }],
  [
    { nodeSelector: { "node-role.kubernetes.io/control-plane": "" } },
    "nodeSelector",
    { nodeSelectors: ["defaults", "node-role.kubernetes.io/control-plane="] },
  ],
  [{ nodeSelector: { "kubernetes.io/hostname": "n1" } }, "nodeSelector", { nodeSelectors: ["defaults", "kubernetes.io/hostname=n1"] }],
  [
    { tolerations: [{ key: "node-role.kubernetes.io/control-plane", operator: "Exists" }] },
    "tolerations[0]",
    { tolerations: ["defaults", "node-role.kubernetes.io/control-plane"] },
  ],
];

test.each(DANGEROUS)("%j is refused, and allowed by the line that the message names", (settings, field, allow) => {
  const [message = "", ...others] = refused(settings);
  expect(others).toEqual([]);
  expect(message).toContain(`${field}: `);
  expect(message).toContain("is not allowed by the operator's policy (no policy file: the defaults)");
  const [key, value] = Object.entries(allow)[0]!;
  const line = `allow: { ${key}: ${JSON.stringify(value).replaceAll(",", ", ")} }`;
  expect(message).toContain(`in the file that the server's PAPERCLIP_K8S_POLICY names: ${line}`);
  expect(refused(settings, policyOf({ allow }))).toEqual([]);
});

test("with a file the message names the file and the change", () => {
  expect(refused({ serviceAccountName: "paperclip" }, policyOf({}))).toEqual([
    'serviceAccountName: "paperclip" is not allowed by the operator\'s policy (/etc/policy.yaml). To allow it, add "paperclip" to allow.serviceAccounts there',
  ]);
});

test("a toleration of every taint is never allowed", () => {
  const all = { tolerations: [{ operator: "Exists" }] };
  for (const policy of [DEFAULT_POLICY, policyOf({ allow: { tolerations: ["*"] } })])
    expect(refused(all, policy)).toEqual([expect.stringContaining("tolerations[0]: a toleration without a key accepts every taint")]);
});

test("all refusals come together", () => {
  expect(refused({ namespace: "x", serviceAccountName: "y", inherit: "all", retainJobs: true, dataClaim: "z" })).toHaveLength(5);
});

test("the lists that are open without a file can be closed by one", () => {
  const closed = policyOf({ allow: { images: ["ours/*"], storageClasses: ["ours"], environment: ["OPENAI_*"] } });
  expect(refused({ env: { SET_BY_HOST: "x" } }, closed)).toEqual([]);
  const settings = {
    image: "theirs:1",
    agentDbMode: "dedicated_pvc",
    agentDbStorageClass: "theirs",
    env: { LD_PRELOAD: "x", PAPERCLIP_X: "host" },
  };
  expect(refused(settings, closed).map((text) => text.split(":")[0])).toEqual(["image", "agentDbStorageClass", "env"]);
});

test("limits: more is refused with the limit, and an unset value is never above it", () => {
  expect(refused({ resources: { limits: { memory: "256Gi" } }, timeoutSec: 90 * 86_400, graceSec: 7200 })).toEqual([
    expect.stringMatching(/^resources\.limits\.memory: 256Gi is more than 128Gi, limits\.memory of .* limits: { memory: "256Gi" }$/),
    expect.stringContaining("timeoutSec: 7776000 is more than 2592000, limits.runSec of"),
    expect.stringContaining("graceSec: 7200 is more than 3600, limits.graceSec of"),
  ]);
  const small = policyOf({
    limits: { cpu: "500m", memory: "1Gi", runSec: 600, graceSec: 5, scheduleTimeoutSec: 60, ttlSecondsAfterFinished: 60 },
  });
  expect(refused({}, small)).toEqual([]);
  const config = parseConfig({}, {}, exampleCli, defaultsOf(small));
  expect(config.resources).toEqual({ requests: { cpu: "500m", memory: "1Gi" }, limits: { cpu: "500m", memory: "1Gi" } });
  expect([config.maxRunSec, config.graceSec, config.scheduleTimeoutSec, config.ttlSecondsAfterFinished]).toEqual([600, 5, 60, 60]);
});

test("a pod template has to be offered and allowed; defaults and force need no line", () => {
  const podTemplates = { db: { containers: [{ name: "db", image: "db:1" }] }, plain: {} };
  expect(refused({ podTemplate: "db" })).toEqual(['podTemplate: "db" is no pod template of the operator\'s policy, which offers none']);
  expect(refused({ podTemplate: "db" }, policyOf({ podTemplates }))).toEqual([]);
  for (const name of ["cache", "constructor", "to-string"])
    expect(refused({ podTemplate: name }, policyOf({ podTemplates }))).toEqual([
      `podTemplate: "${name}" is no pod template of the operator's policy, which offers db, plain`,
    ]);
  const closed = { podTemplates, allow: { podTemplates: ["plain"] } };
  expect(refused({ podTemplate: "db" }, policyOf(closed))).toEqual([
    'podTemplate: "db" is not allowed by the operator\'s policy (/etc/policy.yaml). To allow it, add "db" to allow.podTemplates there',
  ]);
  expect(refused({}, policyOf({ ...closed, defaults: { podTemplate: "db" } }))).toEqual([]);
  expect(refused({ podTemplate: "cache" }, policyOf({ ...closed, force: { podTemplate: "db" } }))).toEqual([]);
});

test("a pod template that takes the place of this agent's own container or volume is refused before the run", () => {
  const volumes = [{ name: "x", emptyDir: {} }];
  const podTemplates = {
    named: { initContainers: [{ name: "example", image: "db:1" }] },
    mounted: { volumes, agent: { volumeMounts: [{ name: "x", mountPath: "/data/cache" }] } },
  };
  const policy = policyOf({ podTemplates });
  const change = "the operator must change the template in the policy";
  expect(refused({ podTemplate: "named" }, policy)).toEqual([
    `podTemplate: its container example has the name of the agent's own; ${change}`,
  ]);
  expect(refused({ podTemplate: "mounted" }, policy)).toEqual([
    `podTemplate: it mounts a volume at /data/cache, where the agent has /data; ${change}`,
  ]);
});

test("defaults of the policy fill what is unset, are allowed, and an agent's own value is checked", () => {
  const policy = policyOf({
    defaults: { namespace: "agents", serviceAccountName: "runner", dataPath: "/mnt/data", runtimeClassName: "gvisor" },
  });
  const config = parseConfig({}, server.env, exampleCli, defaultsOf(policy));
  expect(config).toMatchObject({ namespace: "agents", serviceAccountName: "runner", dataPath: "/mnt/data", runtimeClassName: "gvisor" });
  expect(config.skillsFolder).toBe("/mnt/data/.example/skills");
  expect(refused({}, policy)).toEqual([]);
  expect(refused({ namespace: "agents" }, policy)).toEqual([]);
  expect(refused({ namespace: "others" }, policy)).toHaveLength(1);
  // The server's own namespace has no network policy for agents, no quota, and the server's Secrets.
  expect(refused({ namespace: "paperclip" }, policy)).toHaveLength(1);
});
