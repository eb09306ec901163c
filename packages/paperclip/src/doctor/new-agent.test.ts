import { createEngine } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import { ConfigError } from "../settings/config-error.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { isNewAgent } from "./new-agent.ts";
import { testEnvironment } from "./test-environment.ts";

// The host's page for a new agent lets nobody go on after a failed test, and has a field for the model only.

const press = (config: Record<string, unknown>, cli = exampleCli) =>
  testEnvironment(cli, { companyId: "company-1", config }, { engine: createEngine(), serverEnv: {} });

test.each([[{}], [{ model: "m" }], [{ model: "m", env: {}, command: "" }]])(
  "outside a cluster, %j: a warning that says where to go on",
  async (config) => {
    const { status, checks } = await press(config);
    expect(status).toBe("warn");
    expect(checks).toEqual([
      expect.objectContaining({
        code: "k8s_kubeconfig_invalid",
        level: "warn",
        hint: expect.stringMatching(/^Set Kubeconfig, Namespace, Image, Data claim on the agent's settings page, .*Finish the setup, /),
      }),
    ]);
  },
);

test("an agent that is there already: an error, and all that is missing at once", async () => {
  const { status, checks } = await press({ model: "m", image: "a:1", instructionsBundleMode: "managed" });
  expect(status).toBe("fail");
  expect(checks.at(-1)).toMatchObject({
    level: "error",
    hint: expect.stringMatching(/^Set Kubeconfig, Namespace, Data claim on(?!.*Finish)/),
  });
});

test("the model is on that page: one that cannot be meant is an error there too", async () => {
  const checkModel = (_: string, key: string) => {
    throw new ConfigError(key, "must be another");
  };
  const { status, checks } = await press({ model: "m" }, { ...exampleCli, settings: { own: {}, checkModel } });
  expect(status).toBe("fail");
  expect(checks).toEqual([expect.objectContaining({ code: "model_invalid", level: "error", message: "Model: must be another." })]);
});

test("each check of a result has a code of its own: the host's page loses one of two equal ones", async () => {
  const { checks } = await press({ memoryLimit: "1Gi", timeoutSecs: 5, replicas: 2 });
  const codes = checks.map(({ code }) => code);
  expect(codes).toEqual(["config_warning", "config_warning_2", "config_warning_3", "k8s_kubeconfig_invalid"]);
  expect(checks[0]?.message).toContain("did you mean Memory limit (resources.limits.memory)?");
});

test("a page with any other setting is no new agent's", () => {
  expect(isNewAgent({ model: "m", "resources.limits.memory": "8Gi" })).toBe(false);
  expect(isNewAgent({ env: { A: "b" } })).toBe(false);
});
