import { describe, expect, test } from "vitest";
import { type Field, isUnset } from "../settings/field.ts";
import { parseConfig } from "../settings/parse.ts";
import { commonFields } from "../settings/schema.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { defaultsOf } from "./defaults-of.ts";
import { parsePolicy } from "./parse-policy.ts";

const parse = (value: unknown) => parsePolicy(value, "/etc/policy.yaml");
const problemsOf = (defaults: unknown) => parse({ defaults }).problems;

/** One value for each setting that the operator can give, none of them the built-in default. */
const GIVEN = {
  image: "registry.example/agents:1",
  tools: "always",
  imagePullPolicy: "Always",
  namespace: "agents",
  kubeconfig: "/etc/kubeconfig",
  serviceAccountName: "runner",
  dataPath: "/data",
  dataClaim: "data",
  serverContainer: "main",
  inherit: "all",
  inheritNames: ["TEAM_*"],
  model: "acme/m-2",
  effort: "high",
  dangerouslySkipPermissions: false,
  command: "/opt/example",
  extraArgs: ["--verbose"],
  resources: { requests: { cpu: "2", memory: "4Gi" }, limits: { cpu: 8, memory: "16Gi" } },
  nodeSelector: { pool: "agents" },
  tolerations: [{ key: "agents", operator: "Exists" }],
  runtimeClassName: "gvisor",
  podTemplate: "plain",
  filesystemScope: "workspace",
  filesystemExtraPaths: [{ path: "/data/shared/", access: "rw" }],
  labels: { team: "x" },
  timeoutSec: 3600,
  graceSec: 20,
  maxRunSec: 7200,
  scheduleTimeoutSec: 900,
  ttlSecondsAfterFinished: 4000,
  concurrency: "agent",
  reattachOrphanedJobs: false,
  retainJobs: true,
  logFormat: "raw",
  agentDbMode: "ephemeral",
  agentDbStorageClass: "fast",
  agentDbStorageCapacity: "5Gi",
  stateSaveIntervalSec: 30,
  stateRetentionDays: 7,
  stateMaxTasks: 20,
};

test("every setting can be given, or is refused with its reason", () => {
  const refused = ["env", "cwd", "promptTemplate", "bootstrapPromptTemplate", "showAllSettings", "networkScope", "networkAllowlist"];
  const ofTheHost = ["instructionsFilePath", "instructionsRootPath", "instructionsEntryFile", "instructionsBundleMode"];
  const keys = Object.values<Field<unknown>>(commonFields).map(({ key }) => key.split(".")[0] ?? "");
  expect(new Set([...Object.keys(GIVEN), ...refused, ...ofTheHost])).toEqual(new Set(keys));
  expect(parse({ defaults: GIVEN, podTemplates: { plain: {} } }).problems).toEqual([]);
  for (const key of [...refused, ...ofTheHost])
    expect(problemsOf({ [key]: "x" })).toEqual([expect.stringMatching(`^defaults\\.${key}: .*the policy does not give it`)]);
});

test("what is given is what an agent without settings has, and its own value wins", () => {
  const { policy } = parse({ defaults: GIVEN, podTemplates: { plain: {} } });
  const config: Readonly<Record<string, unknown>> = { ...parseConfig({}, {}, exampleCli, defaultsOf(policy)) };
  for (const [key, value] of Object.entries({
    ...GIVEN,
    filesystemExtraPaths: [{ path: "/data/shared", access: "rw" }],
    resources: { requests: { cpu: "2", memory: "4Gi" }, limits: { cpu: "8", memory: "16Gi" } },
  }))
    expect(config[key], key).toEqual(value);
  const own = { tools: "never", resources: { limits: { memory: "2Gi" } }, graceSec: 5, nodeSelector: "none" };
  const { resources, ...rest } = parseConfig(own, {}, exampleCli, defaultsOf(policy));
  expect(rest).toMatchObject({ tools: "never", graceSec: 5, nodeSelector: {}, warnings: [] });
  // The operator's request follows the agent's smaller limit.
  expect(resources).toEqual({ requests: { cpu: "2", memory: "2Gi" }, limits: { cpu: "8", memory: "2Gi" } });
});

test("0 and null are as without a policy", () => {
  const { policy, problems } = parse({ defaults: { graceSec: 0, image: null, resources: { limits: { memory: null } } } });
  expect(problems).toEqual([]);
  expect(defaultsOf(policy)).toEqual({});
  expect(isUnset(policy.defaults.image, "text")).toBe(true);
});

describe("mistakes are named with their place", () => {
  test.each([
    [{ image: "no image" }, 'defaults.image: must be an image reference, not "no image"'],
    [
      { resources: { limits: { memory: "lots" } } },
      'defaults.resources.limits.memory: must be bytes such as 512Mi or 2Gi, without a space, not "lots"',
    ],
    [{ "resources.limits.cpu": "x" }, 'defaults.resources.limits.cpu: must be cores such as 2 or 500m (half a core), not "x"'],
    [
      { resources: { limits: { memry: "1Gi" } } },
      "defaults.resources.limits.memry: there is no such setting; did you mean resources.limits.memory?",
    ],
    [
      { resources: 5 },
      "defaults.resources: there is no such setting; one that a single CLI has is given by a rule of agents whose match has a type",
    ],
    [{ nodeSelectors: {} }, "defaults.nodeSelectors: there is no such setting; did you mean nodeSelector?"],
    [
      { toString: 1 },
      "defaults.toString: there is no such setting; one that a single CLI has is given by a rule of agents whose match has a type",
    ],
    [{ tools: "sometimes" }, 'defaults.tools: must be one of auto, always, never, not "sometimes"'],
    [{ maxRunSec: 1.5 }, "defaults.maxRunSec: 1.5 is not a whole number: 2 is used"],
    [{ tolerations: [{ key: "a", operater: "Exists" }] }, /^defaults\.tolerations: left out: "operater" of item 1/],
    [{ labels: { team: "a b" } }, 'defaults.labels.team: "a b" is not a valid label value'],
    [[], "defaults: must be an object, not a list"],
  ])("%j", (defaults, problem) => {
    expect(problemsOf(defaults)).toEqual([typeof problem === "string" ? problem : expect.stringMatching(problem)]);
  });
});
