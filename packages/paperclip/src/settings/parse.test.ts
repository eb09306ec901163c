import { describe, expect, test } from "vitest";
import { exampleCli } from "../testing/example-cli.ts";
import { ConfigError } from "./config-error.ts";
import { named } from "./field.ts";
import { wholeNumber } from "./kinds/scalar.ts";
import { parseConfig } from "./parse.ts";

const parse = (raw: Record<string, unknown>) => parseConfig(raw, {}, exampleCli);
/** What a run says about it, whether it goes on or not. */
const said = (raw: Record<string, unknown>): string => {
  try {
    return parse(raw).warnings.join("\n");
  } catch (error) {
    return String(error);
  }
};
const GI = { requests: { cpu: "1000m", memory: "2Gi" }, limits: { cpu: "4000m", memory: "8Gi" } };

test("nothing set: everything has a default, or comes from the server's pod", () => {
  expect(parse({})).toEqual({
    model: null,
    effort: null,
    command: null,
    extraArgs: [],
    env: {},
    cwd: null,
    promptTemplate: null,
    bootstrapPromptTemplate: null,
    instructionsFilePath: null,
    dangerouslySkipPermissions: true,
    own: {},
    kubeconfig: null,
    namespace: null,
    image: null,
    imagePullPolicy: "IfNotPresent",
    serviceAccountName: null,
    serverContainer: null,
    inherit: "listed",
    inheritNames: [],
    resources: GI,
    nodeSelector: null,
    tolerations: null,
    tools: "auto",
    labels: {},
    dataPath: "/paperclip",
    dataClaim: null,
    skillsFolder: "/paperclip/.example/skills",
    instanceId: "default",
    timeoutSec: 0,
    graceSec: 60,
    maxRunSec: 86_400,
    scheduleTimeoutSec: 600,
    ttlSecondsAfterFinished: 86_400,
    retainJobs: false,
    logFormat: "transcript",
    runtimeClassName: null,
    podTemplate: null,
    filesystemScope: "none",
    filesystemExtraPaths: [],
    networkScope: "none",
    networkAllowlist: [],
    reattachOrphanedJobs: true,
    concurrency: "task",
    agentDbMode: "portable",
    stateSaveIntervalSec: 60,
    stateRetentionDays: 90,
    stateMaxTasks: 500,
    agentDbStorageClass: null,
    agentDbStorageCapacity: "1Gi",
    warnings: [],
  });
});

test("the server's environment gives data path and instance", () => {
  const env = { PAPERCLIP_HOME: "/data/", PAPERCLIP_INSTANCE_ID: "two" };
  expect(parseConfig({}, env, exampleCli)).toMatchObject({ dataPath: "/data", instanceId: "two" });
  expect(parseConfig({ dataPath: "/other" }, env, exampleCli).dataPath).toBe("/other");
  expect(parseConfig({}, { PAPERCLIP_HOME: "", PAPERCLIP_INSTANCE_ID: "" }, exampleCli)).toMatchObject({
    dataPath: "/paperclip",
    instanceId: "default",
  });
  expect(() => parseConfig({}, { PAPERCLIP_HOME: "data" }, exampleCli)).toThrow(/^dataPath \(from PAPERCLIP_HOME\): /);
});

test("the first effort that is set counts", () => {
  expect(parse({ effort: "", thinkingEffort: "high", variant: "low" }).effort).toBe("high");
  expect(parse({ effort: "max", thinkingEffort: "high" }).effort).toBe("max");
});

test("a dotted key wins over the nested one, unless it is empty", () => {
  const nested = { resources: { limits: { memory: "3Gi" } } };
  expect(parse({ ...nested, "resources.limits.memory": "4Gi" }).resources.limits.memory).toBe("4Gi");
  expect(parse({ ...nested, "resources.limits.memory": "" }).resources.limits.memory).toBe("3Gi");
});

test("instructions: the file, else the entry in its folder", () => {
  const bundle = { instructionsBundleMode: "managed", instructionsRootPath: "/i", instructionsEntryFile: "A.md" };
  expect(parse(bundle).instructionsFilePath).toBe("/i/A.md");
  expect(parse({ ...bundle, instructionsFilePath: "/j/B.md" }).instructionsFilePath).toBe("/j/B.md");
});

describe("requests and limits", () => {
  test("a default gives way to what was set", () => {
    expect(parse({ "resources.limits.memory": "1Gi" }).resources.requests.memory).toBe("1Gi");
    expect(parse({ "resources.requests.memory": "16Gi" }).resources.limits.memory).toBe("16Gi");
    expect(parse({ "resources.requests.cpu": "5" }).resources.limits.cpu).toBe("5");
  });

  test("of two that do not agree, the limit counts", () => {
    const raw = { "resources.requests.memory": "2048Mi", "resources.limits.memory": "2Gi" };
    expect(parse(raw)).toMatchObject({ resources: { requests: { memory: "2048Mi" } }, warnings: [] });
    expect(parse({ ...raw, "resources.limits.memory": "2G" })).toMatchObject({
      resources: { requests: { memory: "2G" }, limits: { memory: "2G" } },
      warnings: [
        "Memory request (resources.requests.memory): 2048Mi is more than Memory limit (resources.limits.memory), 2G, which is used for both",
      ],
    });
    expect(parse({ resources: { requests: { cpu: 2 }, limits: { cpu: "1500m" } } }).resources.requests.cpu).toBe("1500m");
  });

  test.each<[Record<string, unknown>, string]>([
    [{ resources: "8Gi" }, "resources: is ignored: must be an object, not a string"],
    [{ resources: 5 }, "resources: is ignored: must be an object, not a number"],
    [{ resources: ["8Gi"] }, "resources: is ignored: must be an object, not a list"],
    [{ resources: { limits: ["8Gi"] } }, "resources.limits: is ignored: must be an object, not a list"],
    [{ resources: { requests: "1Gi" } }, "resources.requests: is ignored: must be an object, not a string"],
  ])("what is no object has no effect: %j", (raw, warning) => {
    expect(parse(raw)).toMatchObject({ resources: GI, warnings: [expect.stringContaining(warning)] });
  });
});

test("a CLI's own settings are read beside the common ones, and only by its own adapter", () => {
  const own = named({ steps: wholeNumber({ default: 7, max: 100, doc: "" }) });
  expect(parseConfig({ steps: "9" }, {}, { ...exampleCli, settings: { own } }).own).toEqual({ steps: 9 });
  expect(parseConfig({ steps: "bad" }, {}, exampleCli)).toMatchObject({
    own: {},
    warnings: [expect.stringMatching(/^"steps" is not a setting/)],
  });
});

test("claims of the agents' own are settings only of a CLI that can use them", () => {
  const { state: _, ...without } = exampleCli;
  expect(parse({ agentDbMode: "ephemeral" })).toMatchObject({ agentDbMode: "ephemeral", warnings: [] });
  expect(parseConfig({ agentDbMode: "bad" }, {}, without)).toMatchObject({
    agentDbMode: "portable",
    warnings: ["agentDbMode: has no effect with this adapter"],
  });
});

test("a model that the CLI is certain not to take is refused; without one nothing is checked", () => {
  const checkModel = (model: string, key: string) => {
    throw new ConfigError(key, `no ${model}`);
  };
  const strict = { ...exampleCli, settings: { own: {}, checkModel } };
  expect(() => parseConfig({ model: "m" }, {}, strict)).toThrow("model: no m");
  expect(parseConfig({ model: " " }, {}, strict).model).toBe(null);
});

test.each([
  [
    { "resources.limits.memory": "2G B" },
    'Memory limit (resources.limits.memory): is ignored: must be bytes such as 512Mi or 2Gi, without a space, not "2G B"; it counts as not set (default: 8Gi)',
  ],
  [
    { "resources.limits.cpu": "2 cores" },
    'CPU limit (resources.limits.cpu): is ignored: must be cores such as 2 or 500m (half a core), not "2 cores"; it counts as not set (default: 4000m)',
  ],
])("an amount that is none gets an example of its own unit: %j", (raw, message) => {
  expect(parse(raw).warnings).toEqual([message]);
});

describe("what may be a secret is not repeated", () => {
  test.each([
    [{ env: { KEY: { secret: "s3cret" } } }],
    [{ env: { KEY: "s3cret\0" } }],
    [{ env: { "KEY=s3cret": "x" } }],
    [{ env: { "s3cret!": "x" } }],
    [{ env: "KEY=s3cret" }],
    [{ extraArgs: ["--token", "s3cret\0"] }],
    [{ extraArgs: { token: "s3cret" } }],
    [{ kubeconfig: "token: s3cret" }],
    [{ inheritNames: "KEY=s3cret" }],
    [{ promptTemplate: ["s3cret"] }],
    [{ command: "s3cret\0" }],
    [{ env: ["s3cret"] }],
    [{ extraArgs: ["--token", { s3cret: 1 }] }],
    [{ cwd: "s3cret" }],
    [{ kubeconfig: { token: "s3cret" } }],
  ])("%j", (raw) => {
    expect(said(raw)).not.toBe("");
    expect(said(raw)).not.toContain("s3cret");
  });

  test("nor in warnings", () => {
    expect(parse({ extraArgs: ["--token s3cret"] }).warnings.join()).toMatch(/^(?!.*s3cret).*--token/);
  });
});

test("a value is shown in one short line", () => {
  expect(said({ timeoutSec: `x\n${"y".repeat(500)}` })).toMatch(/^.{1,220}$/);
  expect(said({ namespace: `x\n${"y".repeat(500)}` })).toMatch(/^.{1,200}$/);
});

describe("what an agent can write into a setting has an end", () => {
  const slashes = `${"/".repeat(1_000_000)}x`;
  test.each<[string, string, string]>([
    ["cwd", slashes, "cwd: must be at most 16384 characters long"],
    ["instructionsRootPath", slashes, "instructionsRootPath: must be at most 16384 characters long"],
    ["extraArgs", "a ".repeat(10_000), "extraArgs: must be at most 16384 characters long"],
    ["dataPath", `/${"a".repeat(4096)}`, "dataPath: must be a path of at most 4096 characters"],
    ["image", "a".repeat(513), "image: must be an image reference of at most 512 characters"],
  ])("%s", (key, value, message) => {
    expect(() => parse({ [key]: value })).toThrow(message);
  });

  test("but not prompts and variables", () => {
    const long = "a".repeat(1_000_000);
    const raw = { promptTemplate: long, bootstrapPromptTemplate: long, env: { A: long } };
    expect(parse(raw)).toMatchObject(raw);
    expect(parse({ cwd: `/${"a".repeat(4095)}`, image: "a".repeat(512) })).toMatchObject({ image: "a".repeat(512) });
  });
});
