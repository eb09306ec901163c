import { expect, test } from "vitest";
import { parsePolicy } from "../policy/parse-policy.ts";
import { DEFAULT_POLICY } from "../policy/policy.ts";
import { exampleAttempt, exampleInputs } from "../testing/example-attempt.ts";
import { hostContext } from "../testing/host-context.ts";
import { buildRequest, requestWarnings } from "./request.ts";

// What the operator's policy makes of every pod, whatever the agent's settings say.

const force = {
  ...DEFAULT_POLICY.force,
  labels: { team: "operator", "paperclip.io/run-id": "forged" },
  nodeSelector: { pool: "agents" },
  priorityClassName: "low",
};
const policy = { ...DEFAULT_POLICY, force, limits: { ...DEFAULT_POLICY.limits, outputBytes: 1234, keepOutputBytes: 5000 } };
const config = {
  labels: { team: "own", app: "mine" },
  resources: { requests: {}, limits: {} },
  dataPath: "/data",
  instanceId: "default",
  env: {},
  networkScope: "deny",
};
const inherited = {
  claim: { name: "data", mountPath: "/data", subPath: null },
  nodeSelector: { pool: "own", arch: "amd64" },
  tolerations: [{ key: "own", operator: "Exists" }],
  imagePullSecrets: ["pull"],
  dnsConfig: null,
  secretVolumes: [],
  configMapVolumes: [],
  env: { literals: {}, references: [] },
};
const inputs = exampleInputs({ policy, config: config as never, inherited: inherited as never });
const defaults = [{ unless: [".cli"], env: { FAST: "1" }, files: {} }];
const parts = {
  prompt: { text: "hello" },
  plan: { argv: ["cli"], defaults },
  env: { plain: {}, secret: {}, references: [], apiUrl: null },
};
const request = buildRequest(exampleAttempt({ inputs, ...(parts as object) }));

test("what the CLI gets by default is passed on", () => {
  expect(request.defaults).toEqual(defaults);
});

test("a promise about the pod's network is a label, by which the cluster's network policies choose the pod", () => {
  expect(request.labels).toMatchObject({ "paperclip.io/network-scope": "deny" });
  const without = buildRequest(
    exampleAttempt({ inputs: { ...inputs, config: { ...inputs.config, networkScope: "none" } }, ...(parts as object) }),
  );
  expect(without.labels).not.toHaveProperty(["paperclip.io/network-scope"]);
});

test.each<[string, Parameters<typeof hostContext>[0], object, boolean]>([
  ["a run of its own", {}, {}, false],
  ["a comment", { context: { wakeReason: "issue_commented" } }, {}, false],
  ["a retry", { context: { retryOfRunId: "r" } }, {}, true],
  ["the host's recovery of a task", { context: { wakeReason: "issue_continuation_needed" } }, {}, true],
  ["a Job in another place", {}, { place: { namespace: "n", kubeconfig: null } }, true],
  ["a retry's second attempt", { context: { retryOfRunId: "r" } }, { number: 2 }, false],
])("whether it continues another run: %s", (_, call, changes, continues) => {
  const attempt = exampleAttempt({ inputs: { ...inputs, ctx: hostContext(call).ctx }, ...(parts as object), ...changes });
  expect(buildRequest(attempt).continues).toBe(continues);
});

test("forced labels win over the agent's, and ours over forced ones", () => {
  expect(request.labels).toMatchObject({ team: "operator", app: "mine", "paperclip.io/run-id": inputs.ctx.runId });
});

test("wake-ups are the operator's, by the server's environment; a value that means nothing is a warning", () => {
  const attempt = (value: string) => {
    const serverEnv = { PAPERCLIP_K8S_WAKE_UPS: value };
    return exampleAttempt({ inputs: { ...inputs, serverEnv }, ...(parts as object) });
  };
  expect(request.wakeUps).toBeUndefined();
  expect(buildRequest(attempt("off")).wakeUps).toBe("off");
  expect(buildRequest(attempt("10.0.0.1:4000")).wakeUps).toEqual({ address: "10.0.0.1", port: 4000 });
  expect(buildRequest(attempt("maybe")).wakeUps).toBeUndefined();
  expect(requestWarnings(attempt("maybe"))).toEqual([expect.stringContaining("PAPERCLIP_K8S_WAKE_UPS")]);
  expect(requestWarnings(attempt("off"))).toEqual([]);
});

test("forced nodes win over the agent's", () => {
  expect(request.scheduling.nodeSelector).toEqual({ pool: "agents", arch: "amd64" });
});

test("the pod's rules and the limits of disk and output are the policy's", () => {
  expect(request.pod).toMatchObject({ priorityClassName: "low", readOnlyRootFilesystem: true });
  expect(request.limits.outputBytes).toBe(1234);
  expect(request.output.keep).toMatchObject({ path: expect.stringMatching(/\/data\/run-logs\/.*\/kept-output\/.*\.ndjson$/), bytes: 5000 });
  expect(request.resources.limits).toEqual({ "ephemeral-storage": "24Gi" });
});

const offered = {
  containers: [{ name: "db", image: "db:1" }],
  volumes: [{ name: "db-data", emptyDir: {} }],
  agent: { volumeMounts: [{ name: "db-data", mountPath: "/var/db" }], env: [{ name: "PGHOST", value: "localhost" }] },
  labels: { team: "template", db: "yes" },
  annotations: { "example.com/a": "template" },
  priorityClassName: "template",
  runtimeClassName: "template",
  nodeSelector: { pool: "template", disk: "fast" },
  tolerations: [{ key: "db", operator: "Exists" }],
  imagePullSecrets: [{ name: "pull" }, { name: "db-pull" }],
  affinity: { podAntiAffinity: {} },
  dnsConfig: { searches: ["db.example"] },
};

function requestWith(file: object, settings: object) {
  const { policy: parsed, problems } = parsePolicy({ podTemplates: { db: offered, plain: {} }, ...file }, "/etc/policy.yaml");
  expect(problems).toEqual([]);
  const changed = exampleInputs({ policy: parsed, config: { ...config, ...settings } as never, inherited: inherited as never });
  return buildRequest(exampleAttempt({ inputs: changed, ...(parts as object) }));
}

test("a pod template: what the agent says loses to it, and it loses to what is forced", () => {
  const chosen = requestWith({}, { podTemplate: "db", runtimeClassName: "own" });
  expect(chosen.template).toEqual({
    sidecars: offered.containers,
    initContainers: [],
    volumes: offered.volumes,
    ...offered.agent,
    affinity: offered.affinity,
  });
  expect(chosen.labels).toMatchObject({ team: "template", db: "yes", app: "mine", "paperclip.io/run-id": chosen.runId });
  expect(chosen.pod).toMatchObject({ priorityClassName: "template", runtimeClassName: "template", annotations: offered.annotations });
  expect(chosen.scheduling).toMatchObject({
    nodeSelector: { pool: "template", disk: "fast", arch: "amd64" },
    tolerations: [...inherited.tolerations, ...offered.tolerations],
    imagePullSecrets: ["pull", "db-pull"],
    dnsConfig: offered.dnsConfig,
  });
  const forced = {
    labels: { team: "forced" },
    nodeSelector: { pool: "forced" },
    annotations: { "example.com/a": "forced" },
    priorityClassName: "forced",
    runtimeClassName: "forced",
  };
  const both = requestWith({ force: forced }, { podTemplate: "db" });
  expect(both.labels.team).toBe("forced");
  expect(both.scheduling.nodeSelector).toMatchObject({ pool: "forced", disk: "fast" });
  expect(both.pod).toMatchObject({ priorityClassName: "forced", runtimeClassName: "forced", annotations: forced.annotations });
});

test("which pod template: the one that is forced, else the agent's, else none", () => {
  expect(requestWith({ force: { podTemplate: "db" } }, { podTemplate: "plain" }).template?.sidecars).toHaveLength(1);
  expect(requestWith({}, { podTemplate: "plain" }).template?.sidecars).toEqual([]);
  expect(requestWith({}, { podTemplate: null }).template).toBeNull();
  for (const name of ["gone", "__proto__", "constructor", "toString"]) expect(requestWith({}, { podTemplate: name }).template).toBeNull();
});
