import { expect, test } from "vitest";
import { DEFAULT_POLICY, type Policy } from "../policy/policy.ts";
import { exampleInputs } from "../testing/example-attempt.ts";
import { exampleCli } from "../testing/example-cli.ts";
import type { RunInputs } from "./attempt.ts";
import { podResources, podRules, scratchVolumes } from "./pod.ts";

const resources = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "2Gi" } };
const force = (changes: Partial<Policy["force"]>): Policy => ({ ...DEFAULT_POLICY, force: { ...DEFAULT_POLICY.force, ...changes } });
const disk = (ephemeralStorage: string): Policy => ({ ...DEFAULT_POLICY, limits: { ...DEFAULT_POLICY.limits, ephemeralStorage } });
function inputs(policy: Policy, mountPath = "/data", changes: Partial<RunInputs> = {}): RunInputs {
  const inherited = { claim: { name: "data", mountPath, subPath: null }, secretVolumes: [], configMapVolumes: [] };
  return exampleInputs({ policy, config: { resources } as never, inherited: inherited as never, ...changes });
}

test("a root filesystem that nobody writes to, unless the operator or the CLI needs it otherwise", () => {
  const root = (given: RunInputs) => podRules(given).readOnlyRootFilesystem;
  expect(root(inputs(DEFAULT_POLICY))).toBe(true);
  expect(root(inputs(force({ readOnlyRootFilesystem: false })))).toBe(false);
  expect(root(inputs(DEFAULT_POLICY, "/data", { cli: { ...exampleCli, needsWritableRoot: true } }))).toBe(false);
});

test("what is forced", () => {
  const forced = { runtimeClassName: "sandbox", hostUsers: false, priorityClassName: "low", annotations: { a: "b" } };
  expect(podRules(inputs(force({ ...forced, doNotDisrupt: false })))).toEqual({ ...forced, readOnlyRootFilesystem: true });
  const own = { config: { resources, runtimeClassName: "light" } as never };
  expect(podRules(inputs(force(forced), "/data", own)).runtimeClassName).toBe("sandbox");
  expect(podRules(inputs(DEFAULT_POLICY, "/data", own)).runtimeClassName).toBe("light");
});

test("autoscalers leave a pod's node alone, unless the operator says otherwise", () => {
  const leave = { "karpenter.sh/do-not-disrupt": "true", "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" };
  expect(podRules(inputs(DEFAULT_POLICY)).annotations).toEqual(leave);
  expect(podRules(inputs(force({ annotations: { a: "b" } }))).annotations).toEqual({ ...leave, a: "b" });
  expect(podRules(inputs(force({ doNotDisrupt: false }))).annotations).toEqual({});
});

test("the node's disk: nothing set aside, the policy's limit, and no folder may hold more than that", () => {
  expect(podResources(inputs(DEFAULT_POLICY))).toEqual({
    requests: { cpu: "1", memory: "1Gi", "ephemeral-storage": "0" },
    limits: { cpu: "2", memory: "2Gi", "ephemeral-storage": "24Gi" },
  });
  expect(scratchVolumes(inputs(DEFAULT_POLICY)).map(({ sizeLimit }) => sizeLimit)).toEqual(["10Gi", "10Gi"]);
  const small = inputs(disk("50Mi"));
  expect(podResources(small)).toMatchObject({ limits: { "ephemeral-storage": "50Mi" } });
  expect(scratchVolumes(small).map(({ sizeLimit }) => sizeLimit)).toEqual(["50Mi", "50Mi"]);
});

test("/tmp is the temporary folder too, unless something else is mounted there", () => {
  expect(scratchVolumes(inputs(DEFAULT_POLICY))[1]).toMatchObject({ mountPath: "/agent/tmp", alsoAt: ["/tmp"] });
  expect(scratchVolumes(inputs(DEFAULT_POLICY, "/tmp/"))[1]).not.toHaveProperty("alsoAt");
});
