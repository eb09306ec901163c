import { describe, expect, test } from "vitest";
import { exampleCli } from "../testing/example-cli.ts";
import { parseConfig } from "./parse.ts";
import { type CommonValues, commonFields } from "./schema.ts";
import { type Case, DAY, mapBad, mapGood, numberCase, quantityCase, testSetting, textCase, toggleCase } from "./testing/example-cases.ts";

/** The compiler asks for every field of the schema. */
const cases: { readonly [Name in keyof CommonValues]: Case } = {
  model: textCase((c) => c.model),
  effort: { ...textCase((c) => c.effort), good: [["high", "high"]] },
  command: textCase((c) => c.command),
  promptTemplate: textCase((c) => c.promptTemplate),
  bootstrapPromptTemplate: textCase((c) => c.bootstrapPromptTemplate),
  instructionsFilePath: textCase((c) => c.instructionsFilePath),
  instructionsRootPath: { ...textCase((c) => c.instructionsFilePath), good: [["/srv/bundle/", "/srv/bundle/AGENTS.md"]] },
  instructionsEntryFile: { ...textCase((c) => c.instructionsFilePath), good: [["OTHER.md", null]] },
  instructionsBundleMode: { ...textCase((c) => c.instructionsFilePath), good: [["managed", null]] },
  extraArgs: {
    at: (c) => c.extraArgs,
    unset: [],
    good: [
      [
        ["--a", "b c", ""],
        ["--a", "b c", ""],
      ],
      ["--a  b", ["--a", "b"]],
      ["--a, b c", ["--a", "b c"]],
      ['["--a", "b,c"]', ["--a", "b,c"]],
      [[], []],
    ],
    bad: [[1], [["a"]], {}, 5, true, ["a\0"], '["a", 1]'],
  },
  env: {
    at: (c) => c.env,
    unset: {},
    good: [[{ A_1: " b=c " }, { A_1: " b=c " }]],
    bad: [[], "A=b", 5, true, { A: 1 }, { A: null }, { "A-B": "x" }, { "": "x" }, { A: "x\0" }],
  },
  cwd: {
    at: (c) => c.cwd,
    unset: null,
    good: [
      ["/srv/acme/", "/srv/acme"],
      ["/", "/"],
    ],
    bad: ["relative", "~/x", "/a/../b", 5, {}],
  },
  kubeconfig: { at: (c) => c.kubeconfig, unset: null, good: [["/etc/k", "/etc/k"]], bad: ["k", "apiVersion: v1\nusers: []", "/a\nb", {}] },
  dataPath: { at: (c) => c.dataPath, unset: "/paperclip", good: [["/data/", "/data"]], bad: ["data", "/", "/a/../b", "/a:b", {}] },
  namespace: { at: (c) => c.namespace, unset: null, good: [["agents", "agents"]], bad: ["Bad_Name", "a.b", "-a", "a".repeat(64), 5, {}] },
  serverContainer: { at: (c) => c.serverContainer, unset: null, good: [["server", "server"]], bad: ["Server", "a.b", {}] },
  image: { at: (c) => c.image, unset: null, good: [["r.io:5000/a/b:1@sha256:0a", "r.io:5000/a/b:1@sha256:0a"]], bad: ["a b", "-a", 5, {}] },
  tools: {
    at: (c) => c.tools,
    unset: "auto",
    good: [
      ["always", "always"],
      ["never", "never"],
    ],
    bad: ["sometimes", true, 1, {}],
  },
  imagePullPolicy: {
    at: (c) => c.imagePullPolicy,
    unset: "IfNotPresent",
    good: [
      ["Always", "Always"],
      ["Never", "Never"],
    ],
    bad: ["always", true, {}],
  },
  serviceAccountName: { at: (c) => c.serviceAccountName, unset: null, good: [["a.b-c", "a.b-c"]], bad: ["a_b", "A", "a..b", {}] },
  dataClaim: { at: (c) => c.dataClaim, unset: null, good: [["data", "data"]], bad: ["Data", "a/b", {}] },
  inherit: {
    at: (c) => c.inherit,
    unset: "listed",
    good: [
      ["all", "all"],
      ["listed", "listed"],
    ],
    bad: ["none", ["all"], true],
  },
  inheritNames: {
    at: (c) => c.inheritNames,
    unset: [],
    good: [
      [
        ["A", "b-c"],
        ["A", "b-c"],
      ],
      ["A, B,,C", ["A", "B", "C"]],
      ["A B\nC", ["A", "B", "C"]],
    ],
    bad: ["A=b", ["A B"], [1], {}, 5, [""]],
  },
  requestCpu: {
    ...quantityCase((c) => c.resources.requests.cpu, "1000m", "500m"),
    good: [
      ["1.5", "1.5"],
      [2, "2"],
    ],
  },
  requestMemory: quantityCase((c) => c.resources.requests.memory, "2Gi", "1Gi"),
  limitCpu: { ...quantityCase((c) => c.resources.limits.cpu, "4000m", "8"), bad: ["lots", "4Gi", "-1", [], {}] },
  limitMemory: { ...quantityCase((c) => c.resources.limits.memory, "8Gi", "16Gi"), bad: ["lots", "8", "512m", 8, {}] },
  nodeSelector: {
    at: (c) => c.nodeSelector,
    unset: null,
    good: [...mapGood, ["{}", {}], [{}, {}], ["# none", null]],
    bad: [...mapBad, "a=b c"],
  },
  runtimeClassName: { at: (c) => c.runtimeClassName, unset: null, good: [["gvisor", "gvisor"]], bad: ["G_visor", "a..b", {}] },
  labels: { at: (c) => c.labels, unset: {}, good: [...mapGood, ["{}", {}]], bad: mapBad },
  tolerations: {
    at: (c) => c.tolerations,
    unset: null,
    good: [
      [[{ key: "gpu", operator: "Exists", effect: "NoSchedule" }], [{ key: "gpu", operator: "Exists", effect: "NoSchedule" }]],
      [
        '[{"key":"a","value":"b","effect":"NoExecute","tolerationSeconds":5}]',
        [{ key: "a", value: "b", effect: "NoExecute", tolerationSeconds: 5 }],
      ],
      [[{ operator: "Exists" }], [{ operator: "Exists" }]],
      ["[]", []],
      [[], []],
    ],
    bad: [
      "gpu",
      "{}",
      "[",
      "gpu=true",
      {},
      5,
      [5],
      [{}],
      [{ key: "a", op: "Exists" }],
      [{ key: "a", operator: "In" }],
      [{ key: "a", effect: "No" }],
      [{ key: "a", operator: "Exists", value: "b" }],
      [{ key: "a", tolerationSeconds: 5 }],
      [{ key: "a b", operator: "Exists" }],
      [{ key: 1 }],
    ],
  },
  timeoutSec: numberCase((c) => c.timeoutSec, 0, 365 * DAY),
  graceSec: numberCase((c) => c.graceSec, 60, DAY),
  maxRunSec: numberCase((c) => c.maxRunSec, DAY, 365 * DAY),
  scheduleTimeoutSec: numberCase((c) => c.scheduleTimeoutSec, 600, DAY),
  ttlSecondsAfterFinished: numberCase((c) => c.ttlSecondsAfterFinished, DAY, 365 * DAY),
  dangerouslySkipPermissions: toggleCase((c) => c.dangerouslySkipPermissions, true),
  retainJobs: toggleCase((c) => c.retainJobs, false),
  reattachOrphanedJobs: toggleCase((c) => c.reattachOrphanedJobs, true),
  concurrency: { at: (c) => c.concurrency, unset: "task", good: [["agent", "agent"]], bad: ["run", 1, {}] },
  agentDbMode: {
    at: (c) => c.agentDbMode,
    unset: "portable",
    good: [
      ["ephemeral", "ephemeral"],
      ["dedicated_pvc", "dedicated_pvc"],
    ],
    bad: ["other", {}],
  },
  stateSaveIntervalSec: numberCase((c) => c.stateSaveIntervalSec, 60, DAY),
  stateRetentionDays: numberCase((c) => c.stateRetentionDays, 90, 3650),
  stateMaxTasks: numberCase((c) => c.stateMaxTasks, 500, 100_000),
  agentDbStorageClass: { at: (c) => c.agentDbStorageClass, unset: null, good: [["fast", "fast"]], bad: ["Fast!", {}] },
  agentDbStorageCapacity: quantityCase((c) => c.agentDbStorageCapacity, "1Gi", "5Gi"),
  // The form's alone: a run has nothing of it.
  showAllSettings: { at: (c) => "showAllSettings" in c, unset: false, good: [[true, false]], bad: ["maybe", {}] },
};

describe.each(Object.entries(cases))("%s", (name, found) => {
  testSetting(commonFields[name as keyof CommonValues], found, (raw) => parseConfig(raw, {}, exampleCli));
});

test("the requirements' common keys are all there", () => {
  const required =
    `model effort thinkingEffort variant dangerouslySkipPermissions instructionsFilePath promptTemplate bootstrapPromptTemplate
    extraArgs env cwd namespace image imagePullPolicy kubeconfig serviceAccountName resources.requests.cpu resources.requests.memory resources.limits.cpu
    resources.limits.memory nodeSelector labels tolerations ttlSecondsAfterFinished retainJobs reattachOrphanedJobs scheduleTimeoutSec timeoutSec graceSec
    maxRunSec concurrency inherit inheritNames agentDbMode agentDbStorageClass agentDbStorageCapacity`.split(/\s+/);
  const known = Object.values(commonFields).flatMap((field) => [field.key, ...field.aliases]);
  expect(known).toEqual(expect.arrayContaining(required));
});
