import { expect, test } from "vitest";
import { DEFAULT_POLICY } from "../../policy/policy.ts";
import { exampleAttempt, exampleInputs } from "../../testing/example-attempt.ts";
import { chooseTools, runTools, withTools } from "./choice.ts";

const inputs = (config: Record<string, unknown>, image: string | null = "tools:1") =>
  exampleInputs({
    config: { env: {}, command: null, tools: "auto", dataPath: "/nowhere", instanceId: "default", ...config } as never,
    policy: { ...DEFAULT_POLICY, tools: { image, mount: "copy" } },
    inherited: { image: "jdk:25" } as never,
  });

test("before the first attempt: as the settings say, and the image as it is where nothing is known of it", async () => {
  expect(await chooseTools(inputs({ tools: "always" }))).toBe("asked-for");
  expect(await chooseTools(inputs({ tools: "never" }))).toBeNull();
  expect(await chooseTools(inputs({}))).toBeNull();
  expect(await chooseTools(inputs({}, null))).toBeNull();
  await expect(chooseTools(inputs({ tools: "always" }, null))).rejects.toThrow(/always needs a tools image; .*`tools: { image:/);
});

test("the tools' CLI is started by its path, unless the agent's settings name another program", () => {
  const { config } = inputs({});
  expect(withTools(["agent-cli", "--x"], "asked-for", config)).toEqual(["/opt/agent-tools/bin/agent-cli", "--x"]);
  expect(withTools(["agent-cli", "--x"], null, config)).toEqual(["agent-cli", "--x"]);
  const { config: own } = inputs({ command: "/x/cli" });
  expect(withTools(["/x/cli", "--x"], "asked-for", own)).toEqual(["/x/cli", "--x"]);
});

test("the pod gets the CLI that it starts, and no other", () => {
  const attempt = exampleAttempt({ inputs: inputs({}), tools: "runtime-missing" });
  expect(runTools(attempt, "agent-cli")).toEqual({ image: "tools:1", mount: "copy", programs: ["agent-cli"] });
  expect(runTools({ ...attempt, tools: null }, "agent-cli")).toBeNull();
});
