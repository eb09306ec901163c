import { describe, expect, test } from "vitest";
import { parseConfig } from "./config.ts";

const required = { namespace: "agents", image: "agent:1", dataClaim: "data" };
const parse = (raw: Record<string, unknown>) => parseConfig({ ...required, ...raw }, {});

test("defaults", () => {
  expect(parse({})).toMatchObject({
    timeoutSec: 0,
    graceSec: 60,
    maxRunSec: 86_400,
    scheduleTimeoutSec: 600,
    ttlSecondsAfterFinished: 86_400,
    imagePullPolicy: "IfNotPresent",
    dangerouslySkipPermissions: true,
    dataPath: "/paperclip",
    resources: { requests: { cpu: "1000m", memory: "2Gi" }, limits: { cpu: "4000m", memory: "8Gi" } },
  });
});

test("what the form sends for unset fields is unset", () => {
  const unset = {
    model: "",
    effort: "",
    timeoutSec: 0,
    graceSec: "",
    kubeconfig: "",
    serviceAccountName: "",
    extraArgs: "",
    "resources.limits.cpu": "",
  };
  expect(parse(unset)).toEqual(parse({}));
});

test("text for numbers, dotted and nested resources, words for a list", () => {
  expect(parse({ timeoutSec: "90" }).timeoutSec).toBe(90);
  expect(parse({ "resources.limits.memory": "1Gi" }).resources.limits.memory).toBe("1Gi");
  expect(parse({ resources: { limits: { memory: "3Gi" } } }).resources.limits.memory).toBe("3Gi");
  expect(parse({ extraArgs: "--a b" }).extraArgs).toEqual(["--a", "b"]);
  expect(parse({ thinkingEffort: "high" }).variant).toBe("high");
});

describe("bad values are refused by the field's name", () => {
  test.each([
    [{ namespace: "Bad_Name" }, "namespace"],
    [{ namespace: "" }, "namespace"],
    [{ image: 0 }, "image"],
    [{ dataClaim: "" }, "dataClaim"],
    [{ timeoutSec: "soon" }, "timeoutSec"],
    [{ timeoutSec: -1 }, "timeoutSec"],
    [{ graceSec: 1.5 }, "graceSec"],
    [{ imagePullPolicy: "Sometimes" }, "imagePullPolicy"],
    [{ env: { "A-B": "x" } }, "env.A-B"],
    [{ env: { A: 1 } }, "env.A"],
    [{ env: { A: "x\0y" } }, "env.A"],
    [{ env: [] }, "env"],
    [{ cwd: "relative" }, "cwd"],
    [{ dataPath: "/a/../b" }, "dataPath"],
    [{ "resources.limits.memory": "lots" }, "resources.limits.memory"],
    [{ retainJobs: "maybe" }, "retainJobs"],
    [{ extraArgs: [1] }, "extraArgs"],
  ])("%j", (raw, field) => {
    expect(() => parse(raw)).toThrow(new RegExp(`^${field.replaceAll(".", "\\.")}: `));
  });

  test("a value that may be a secret is not repeated", () => {
    expect(() => parse({ env: { KEY: { secret: "s3cret" } } })).toThrow(/^(?!.*s3cret)/);
  });
});
