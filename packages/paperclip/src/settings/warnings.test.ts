import { describe, expect, test } from "vitest";
import { exampleCli } from "../testing/example-cli.ts";
import * as settings from "./parse.ts";

const parseConfig = (raw: Record<string, unknown>, env: NodeJS.ProcessEnv) => settings.parseConfig(raw, env, exampleCli);

const warnings = (raw: Record<string, unknown>) => parseConfig(raw, {}).warnings;

describe("keys", () => {
  test.each([
    ["timeoutSecs", "timeoutSec"],
    ["timeout", "timeoutSec"],
    ["graceSeconds", "graceSec"],
    ["nodeselector", "nodeSelector"],
    ["node_selector", "nodeSelector"],
    ["nodeSelectr", "nodeSelector"],
    ["imagePullPolciy", "imagePullPolicy"],
    ["label", "labels"],
    ["toleration", "tolerations"],
    ["Env", "env"],
    ["imagePull", "imagePullPolicy"],
    ["stateRetention", "stateRetentionDays"],
    ["resources.limit.memory", "resources.limits.memory"],
    ["resources.requests.Memory", "resources.requests.memory"],
  ])("%s is nearly %s", (key, meant) => {
    expect(warnings({ [key]: "x" })).toEqual([`"${key}" is not a setting; did you mean ${meant}?`]);
  });

  test("nested resources, and such as we do not have", () => {
    expect(warnings({ resources: { limit: { memory: "1Gi" } } })).toEqual([
      expect.stringContaining("did you mean resources.limits.memory"),
    ]);
    expect(warnings({ resources: { limits: { "nvidia.com/gpu": 1 } } })).toEqual([
      '"resources.limits.nvidia.com/gpu" is not a setting and has no effect',
    ]);
  });

  test("the host's own and the empty ones are kept silently", () => {
    const host = {
      paperclipRuntimeSkills: [],
      paperclipSkillSync: { desiredSkills: [] },
      workspaceRuntime: {},
      workspaceStrategy: {},
      mode: "x",
    };
    expect(warnings({ ...host, url: "x", search: true, secretRef: "s", resumeLastSession: true, timeoutSecs: "", args: ["--a"] })).toEqual(
      [],
    );
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
  expect(config.warnings).toEqual([`labels: skipped, their keys are reserved: ${reserved.join(", ")}`]);
});

test("label values are made valid, with a warning", () => {
  // The first "=" splits.
  const config = parseConfig({ labels: "team=Blue & Red!\nok=\nsum=a=b" }, {});
  expect(config.labels).toEqual({ team: "Blue-Red", ok: "", sum: "a-b" });
  expect(config.warnings).toEqual([expect.stringMatching(/^labels: values made valid.*team=Blue-Red, sum=a-b$/)]);
});

test("arguments that the form did not take apart", () => {
  for (const extraArgs of [["--log-level debug"], ["--a,--b"], ["--a,", "--b"]]) expect(warnings({ extraArgs })).toHaveLength(1);
  for (const extraArgs of [["--title=a b"], ["two words"], ["--list=a,b"], ["-"], ["--a", "b"]])
    expect(warnings({ extraArgs })).toEqual([]);
});

test("limits that are seldom meant", () => {
  expect(warnings({ timeoutSec: 30 })).toEqual([]);
  expect(warnings({ timeoutSec: 30, graceSec: 90 })).toEqual([expect.stringMatching(/^graceSec: /)]);
  expect(warnings({ ttlSecondsAfterFinished: 300 })).toEqual([expect.stringMatching(/^ttlSecondsAfterFinished: /)]);
});
