import { expect, test } from "vitest";
import { DEFAULT_POLICY } from "../policy/policy.ts";
import { exampleAttempt, exampleInputs } from "../testing/example-attempt.ts";
import { buildRequest } from "./request.ts";

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
};
const inherited = {
  claim: { name: "data", mountPath: "/data", subPath: null },
  nodeSelector: { pool: "own", arch: "amd64" },
  secretVolumes: [],
  configMapVolumes: [],
  env: { literals: {}, references: [] },
};
const inputs = exampleInputs({ policy, config: config as never, inherited: inherited as never });
const parts = { prompt: { text: "hello" }, plan: { argv: ["cli"] }, env: { plain: {}, secret: {}, references: [], apiUrl: null } };
const request = buildRequest(exampleAttempt({ inputs, ...(parts as object) }));

test("forced labels win over the agent's, and ours over forced ones", () => {
  expect(request.labels).toMatchObject({ team: "operator", app: "mine", "paperclip.io/run-id": inputs.ctx.runId });
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
