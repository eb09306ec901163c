import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nodeProblem } from "./node-version.ts";
import { refusingAdapter } from "./refusing-adapter.ts";
import { exampleCli } from "./testing/example-cli.ts";
import { hostContext } from "./testing/host-context.ts";

const PROBLEM = "the adapter claude_k8s needs Node 20.12 or newer, and this is Node 18.20.8: run it on Node 20.12 or newer";

test("a Node that is too old is named with the one that is needed; this one will do", () => {
  expect(nodeProblem("the adapter claude_k8s", "18.20.8")).toBe(PROBLEM);
  for (const version of ["18.20.8", "20.11.1", "19.9.0"]) expect(nodeProblem("x", version)).not.toBeNull();
  for (const version of ["20.12.0", "20.20.2", "22.1.0", "24.0.0", "26.1.0", process.versions.node])
    expect(nodeProblem("x", version)).toBeNull();
});

test("the published packages say the same to npm", () => {
  for (const name of ["adapter-claude", "adapter-opencode", "cli"]) {
    const manifest = JSON.parse(readFileSync(new URL(`../../${name}/package.json`, import.meta.url), "utf8")) as { engines?: unknown };
    expect(manifest.engines).toEqual({ node: ">=20.12" });
  }
});

test("an adapter on such a Node is there for the host, and says at each use what is needed", async () => {
  const adapter = refusingAdapter(exampleCli, PROBLEM);
  const { ctx, log } = hostContext();
  expect(await adapter.execute(ctx)).toMatchObject({ exitCode: null, errorCode: "configuration_incomplete", errorMessage: PROBLEM });
  expect(log()).toContain(`✖ ${PROBLEM}`);
  const tested = await adapter.testEnvironment({ companyId: "c", adapterType: exampleCli.type, config: {} });
  expect(tested).toMatchObject({
    status: "fail",
    checks: [
      { code: "node_too_old", level: "error", message: expect.stringContaining("needs Node 20.12 or newer, and this is Node 18.20.8") },
    ],
  });
  await expect(adapter.listSkills({} as never)).rejects.toThrow(PROBLEM);
  await expect(adapter.syncSkills({} as never, [])).rejects.toThrow(PROBLEM);
  expect(adapter).toMatchObject({ type: exampleCli.type, models: exampleCli.models });
  expect((await adapter.getConfigSchema()).fields.length).toBeGreaterThan(0);
});
