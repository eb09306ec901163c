import { describe, expect, test } from "vitest";
import { exampleCli } from "../testing/example-cli.ts";
import * as settings from "./parse.ts";

const parseConfig = (raw: Record<string, unknown>, env: NodeJS.ProcessEnv) => settings.parseConfig(raw, env, exampleCli);

const warnings = (raw: Record<string, unknown>) => parseConfig(raw, {}).warnings;

describe("keys", () => {
  test.each([
    ["timeoutSecs", "Timeout (sec) (timeoutSec)"],
    ["timeout", "Timeout (sec) (timeoutSec)"],
    ["graceSeconds", "Interrupt grace period (sec) (graceSec)"],
    ["nodeselector", "Node selector (nodeSelector)"],
    ["node_selector", "Node selector (nodeSelector)"],
    ["nodeSelectr", "Node selector (nodeSelector)"],
    ["imagePullPolciy", "Image pull policy (imagePullPolicy)"],
    ["label", "Labels"],
    ["toleration", "Tolerations"],
    ["Env", "Environment variables (env)"],
    ["imagePull", "Image pull policy (imagePullPolicy)"],
    ["stateRetention", "Keep sessions (days) (stateRetentionDays)"],
    ["instructionFilePath", "instructionsFilePath"],
    ["resources.limit.memory", "Memory limit (resources.limits.memory)"],
    ["resources.requests.Memory", "Memory request (resources.requests.memory)"],
    // Called by its name in the form, or by the last part of its key.
    ["memoryLimit", "Memory limit (resources.limits.memory)"],
    ["cpu_request", "CPU request (resources.requests.cpu)"],
    ["serviceAccount", "Service account (serviceAccountName)"],
    ["limits.cpu", "CPU limit (resources.limits.cpu)"],
    ["memory", "Memory request (resources.requests.memory) or Memory limit (resources.limits.memory)"],
  ])("%s may be meant for %s", (key, meant) => {
    expect(warnings({ [key]: "x" })).toEqual([`"${key}" is not a setting of this adapter and has no effect; did you mean ${meant}?`]);
  });

  test.each(["replicas", "mode", "url", "x", "", "__proto__x"])("%s is not passed over in silence", (key) => {
    expect(warnings({ [key]: "s3cret" })).toEqual([`"${key}" is not a setting of this adapter and has no effect`]);
  });

  test("of very many, and very long ones, only the first are named", () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`no-such-${index}-${"x".repeat(100_000)}`, 1]));
    const found = warnings(many);
    expect(found).toHaveLength(9);
    expect(found.at(-1)).toBe("42 more keys are no settings and have no effect");
    expect(found.join().length).toBeLessThan(2000);
    const nine = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`no-such-${index}`, 1]));
    expect(warnings(nine).at(-1)).toBe("1 more key is no setting and has no effect");
  });

  test("nested resources, and such as we do not have", () => {
    expect(warnings({ resources: { limit: { memory: "1Gi" } } })).toEqual([
      expect.stringContaining("did you mean Memory limit (resources.limits.memory)"),
    ]);
    expect(warnings({ resources: { limits: { "nvidia.com/gpu": 1 } } })).toEqual([
      '"resources.limits.nvidia.com/gpu" is not a setting of this adapter and has no effect',
    ]);
  });

  test("the host's own and the empty ones are kept silently", () => {
    const host = {
      paperclipRuntimeSkills: [],
      paperclipSkillSync: { desiredSkills: [] },
      workspaceRuntime: {},
      workspaceStrategy: {},
      paperclipConnectorSkillDigest: "x",
      agentsMdPath: "/x",
      // What the host keeps of an agent whose adapter was another one before, and what its forms write.
      ...{ env: {}, promptTemplate: "x", instructionsFilePath: "/x", cwd: "/x", timeoutSec: 9, graceSec: 9, bootstrapPromptTemplate: "x" },
      ...{ model: "m", effort: "low", thinkingEffort: "low", command: "c", extraArgs: [], args: ["--a"], showAllSettings: true },
      ...{ instructionsBundleMode: "managed", instructionsRootPath: "/x", instructionsEntryFile: "A.md" },
    };
    expect(warnings({ ...host, timeoutSecs: "", chrome: false, replicas: 0 })).toEqual([]);
  });
});

test("reserved labels are skipped in one warning", () => {
  const reserved = [
    "app.kubernetes.io/name",
    "paperclip.io/run-id",
    "batch.kubernetes.io/job-name",
    "kubernetes.io/os",
    "k8s.io/a",
    "job-name",
  ];
  const labels = { ...Object.fromEntries(reserved.map((key) => [key, "x"])), team: "blue", "kueue.x-k8s.io/queue-name": "q" };
  const config = parseConfig({ labels }, {});
  expect(config.labels).toEqual({ team: "blue", "kueue.x-k8s.io/queue-name": "q" });
  expect(config.warnings).toEqual([`Labels: skipped, their keys are reserved: ${reserved.join(", ")}`]);
});

test("label values are made valid, with a warning", () => {
  // The first "=" splits.
  const config = parseConfig({ labels: "team=Blue & Red!\nok=\nsum=a=b" }, {});
  expect(config.labels).toEqual({ team: "Blue-Red", ok: "", sum: "a-b" });
  expect(config.warnings).toEqual([expect.stringMatching(/^Labels: values made valid.*team=Blue-Red, sum=a-b$/)]);
});

test("arguments that the form did not take apart", () => {
  for (const extraArgs of [["--log-level debug"], ["--a,--b"], ["--a,", "--b"]]) expect(warnings({ extraArgs })).toHaveLength(1);
  for (const extraArgs of [["--title=a b"], ["two words"], ["--list=a,b"], ["-"], ["--a", "b"]])
    expect(warnings({ extraArgs })).toEqual([]);
});

test("limits that are seldom meant", () => {
  expect(warnings({ timeoutSec: 30 })).toEqual([]);
  expect(warnings({ timeoutSec: 30, graceSec: 90 })).toEqual([expect.stringMatching(/^Interrupt grace period \(sec\) \(graceSec\): /)]);
  expect(warnings({ ttlSecondsAfterFinished: 300 })).toEqual([expect.stringMatching(/^Job TTL \(sec\) \(ttlSecondsAfterFinished\): /)]);
});

test("a stored reattachOrphanedJobs: false is said, since the earlier form wrote it; nothing is said of true or nothing", () => {
  expect(warnings({ reattachOrphanedJobs: false })).toEqual([
    expect.stringMatching(/^Take over live Jobs \(reattachOrphanedJobs\): is off/),
  ]);
  expect(warnings({ reattachOrphanedJobs: true })).toEqual([]);
  expect(warnings({})).toEqual([]);
});
