import { describe, expect, test } from "vitest";
import { exampleCli } from "../testing/example-cli.ts";
import { parseConfig } from "./parse.ts";
import { type CommonValues, commonFields } from "./schema.ts";
import {
  type Case,
  DAY,
  mapBad,
  mapGood,
  mapIgnored,
  mapPartly,
  NO_TEXT,
  numberCase,
  quantityCase,
  testSetting,
  textCase,
  toggleCase,
} from "./testing/example-cases.ts";

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
    partly: [
      [["--a", 1, null, ["b"]], ["--a"]],
      [[1], []],
      ['["a", 1]', ["a"]],
    ],
    ignored: [{}, 5, true],
    bad: [["a\0"], "a\0"],
  },
  filesystemScope: { at: (c) => c.filesystemScope, unset: "none", good: [["workspace", "workspace"]], bad: ["home", ...NO_TEXT] },
  filesystemExtraPaths: {
    at: (c) => c.filesystemExtraPaths,
    unset: [],
    good: [
      [
        ["/a/", { path: "/b", access: "rw" }, { path: "/c", access: "ro" }, { path: "/d" }],
        [
          { path: "/a", access: "ro" },
          { path: "/b", access: "rw" },
          { path: "/c", access: "ro" },
          { path: "/d", access: "ro" },
        ],
      ],
    ],
    partly: [[["/a", { access: "rw" }], [{ path: "/a", access: "ro" }]]],
    ignored: [{}, 5, true],
    bad: [["a\0"]],
  },
  networkScope: {
    at: (c) => c.networkScope,
    unset: "none",
    good: [
      ["deny", "deny"],
      ["allowlist", "allowlist"],
    ],
    bad: ["open", false, 0, ...NO_TEXT],
  },
  networkAllowlist: {
    at: (c) => c.networkAllowlist,
    unset: [],
    good: [[["a.example"], ["a.example"]]],
    ignored: [{}, 5, true],
    bad: [["a\0"]],
  },
  env: {
    at: (c) => c.env,
    unset: {},
    good: [
      [{ A_1: " b=c " }, { A_1: " b=c " }],
      [
        { "A-B": "x", "a.b": "y", "-": "z" },
        { "A-B": "x", "a.b": "y", "-": "z" },
      ],
    ],
    partly: [[{ A: 1, B: null, C: {}, D: ["x"], E: true, F: "x" }, { F: "x" }]],
    ignored: [[], "A=b", 5, true],
    bad: [{ "": "x" }, { "1A": "x" }, { "A B": "x" }, { "A=B": "x" }, { ".": "x" }, { "..": "x" }, { "..a": "x" }, { A: "x\0" }],
  },
  cwd: {
    at: (c) => c.cwd,
    unset: null,
    good: [
      ["/srv/acme/", "/srv/acme"],
      ["/", "/"],
    ],
    ignored: ["relative", "./x", "../x", "~/x", ...NO_TEXT],
    bad: ["/a/../b", "/a\nb", "/a\0b", `/${"a".repeat(4096)}`],
  },
  kubeconfig: {
    at: (c) => c.kubeconfig,
    unset: null,
    good: [["/etc/k", "/etc/k"]],
    ignored: NO_TEXT,
    bad: ["k", "apiVersion: v1\nusers: []", '{"apiVersion":"v1"}', "/a\nb"],
  },
  dataPath: {
    at: (c) => c.dataPath,
    unset: "/paperclip",
    good: [["/data/", "/data"]],
    ignored: NO_TEXT,
    bad: ["data", "/", "/a/../b", "/a:b"],
  },
  namespace: {
    at: (c) => c.namespace,
    unset: null,
    good: [["agents", "agents"]],
    ignored: NO_TEXT,
    bad: ["Bad_Name", "a.b", "-a", "a".repeat(64)],
  },
  serverContainer: { at: (c) => c.serverContainer, unset: null, good: [["server", "server"]], ignored: NO_TEXT, bad: ["Server", "a.b"] },
  image: {
    at: (c) => c.image,
    unset: null,
    good: [["r.io:5000/a/b:1@sha256:0a", "r.io:5000/a/b:1@sha256:0a"]],
    ignored: NO_TEXT,
    bad: ["a b", "-a"],
  },
  tools: {
    at: (c) => c.tools,
    unset: "auto",
    good: [
      ["always", "always"],
      ["never", "never"],
    ],
    ignored: [true, 1, {}],
    bad: ["sometimes"],
  },
  imagePullPolicy: {
    at: (c) => c.imagePullPolicy,
    unset: "IfNotPresent",
    good: [
      ["Always", "Always"],
      ["Never", "Never"],
    ],
    ignored: NO_TEXT,
    bad: ["always"],
  },
  serviceAccountName: {
    at: (c) => c.serviceAccountName,
    unset: null,
    good: [["a.b-c", "a.b-c"]],
    ignored: NO_TEXT,
    bad: ["a_b", "A", "a..b"],
  },
  dataClaim: { at: (c) => c.dataClaim, unset: null, good: [["data", "data"]], ignored: NO_TEXT, bad: ["Data", "a/b"] },
  inherit: {
    at: (c) => c.inherit,
    unset: "listed",
    good: [
      ["all", "all"],
      ["listed", "listed"],
    ],
    ignored: [["all"], true],
    bad: ["none"],
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
    partly: [[["A", 1], ["A"]]],
    ignored: [{}, 5],
    bad: ["A=b", ["A B"], [""]],
  },
  requestCpu: {
    ...quantityCase((c) => c.resources.requests.cpu, "1000m", "500m"),
    good: [
      ["1.5", "1.5"],
      [2, "2"],
      ["1e0", "1e0"],
      [".5", ".5"],
    ],
  },
  requestMemory: quantityCase((c) => c.resources.requests.memory, "2Gi", "1Gi"),
  limitCpu: { ...quantityCase((c) => c.resources.limits.cpu, "4000m", "8"), ignored: ["lots", "4Gi", "1k", "-1", [], {}] },
  limitMemory: { ...quantityCase((c) => c.resources.limits.memory, "8Gi", "16Gi"), ignored: ["lots", "8", "512m", 8, {}] },
  nodeSelector: {
    at: (c) => c.nodeSelector,
    unset: null,
    good: [...mapGood, ["{}", {}], [{}, {}], ["# none", null]],
    partly: mapPartly,
    ignored: mapIgnored,
    bad: [...mapBad, "a=b c", { a: "b c" }],
  },
  runtimeClassName: {
    at: (c) => c.runtimeClassName,
    unset: null,
    good: [["gvisor", "gvisor"]],
    ignored: NO_TEXT,
    bad: ["G_visor", "a..b"],
  },
  podTemplate: { at: (c) => c.podTemplate, unset: null, good: [["postgres", "postgres"]], ignored: NO_TEXT, bad: ["Post_gres", "a..b"] },
  labels: { at: (c) => c.labels, unset: {}, good: [...mapGood, ["{}", {}]], partly: mapPartly, ignored: mapIgnored, bad: mapBad },
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
    partly: [[[{ key: "a", op: "Exists", x: {} }], [{ key: "a" }]]],
    ignored: ["gpu", "{}", "[", "gpu=true", "[5]", '[{"key":"a","operator":"In"}]', "[object Object]", {}, 5, true],
    bad: [
      [5],
      [{}],
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
  logFormat: { at: (c) => c.logFormat, unset: "transcript", good: [["raw", "raw"]], ignored: [1, {}], bad: ["json"] },
  concurrency: { at: (c) => c.concurrency, unset: "task", good: [["agent", "agent"]], ignored: [1, {}], bad: ["run"] },
  agentDbMode: {
    at: (c) => c.agentDbMode,
    unset: "portable",
    good: [
      ["ephemeral", "ephemeral"],
      ["dedicated_pvc", "dedicated_pvc"],
    ],
    ignored: ["other", "workspace_subpath", 5, true, [], {}],
    bad: ["a\0"],
  },
  stateSaveIntervalSec: numberCase((c) => c.stateSaveIntervalSec, 60, DAY),
  stateRetentionDays: numberCase((c) => c.stateRetentionDays, 90, 3650),
  stateMaxTasks: numberCase((c) => c.stateMaxTasks, 500, 100_000),
  agentDbStorageClass: { at: (c) => c.agentDbStorageClass, unset: null, good: [["fast", "fast"]], ignored: NO_TEXT, bad: ["Fast!"] },
  agentDbStorageCapacity: quantityCase((c) => c.agentDbStorageCapacity, "1Gi", "5Gi"),
  // The form's alone: a run has nothing of it.
  showAllSettings: { at: (c) => "showAllSettings" in c, unset: false, good: [[true, false]], ignored: ["maybe", {}], bad: [] },
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
