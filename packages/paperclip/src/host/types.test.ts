import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "@paperclip-k8s/engine";
import type * as host from "@paperclipai/adapter-utils";
import { hasSessionCompactionThresholds } from "@paperclipai/adapter-utils";
import { agentSkillSnapshotSchema } from "@paperclipai/shared";
import { afterAll, expect, expectTypeOf, test } from "vitest";
import { createAdapter } from "../adapter.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { hostContext } from "../testing/host-context.ts";
import type { EnvironmentTestResult, ExecutionContext, ExecutionResult, ServerAdapter, SessionCodec } from "./types.ts";

const data = mkdtempSync(join(tmpdir(), "host-"));
afterAll(() => rmSync(data, { recursive: true, force: true }));

const adapter: ServerAdapter = createAdapter(exampleCli, { engine: createEngine(), serverEnv: { PAPERCLIP_HOME: data } });
/** What the host gets to see of a value: it goes through its database. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

// Checked by the compiler in `npm run check`; the tests below check the values.
test("our types of the host fit its own", () => {
  expectTypeOf<host.AdapterExecutionContext>().toExtend<ExecutionContext>();
  expectTypeOf<ExecutionResult>().toExtend<host.AdapterExecutionResult>();
  expectTypeOf<EnvironmentTestResult>().toExtend<host.AdapterEnvironmentTestResult>();
  expectTypeOf<SessionCodec>().toExtend<host.AdapterSessionCodec>();
  expectTypeOf<ServerAdapter>().toExtend<host.ServerAdapterModule>();
});

test("an adapter has all that it promises the host, and nothing else", () => {
  const members: Record<Exclude<keyof ServerAdapter, "runtimeToolDelivery" | "loginCapability">, string> = {
    type: "string",
    execute: "function",
    testEnvironment: "function",
    sessionCodec: "object",
    sessionManagement: "object",
    models: "object",
    listModels: "function",
    listSkills: "function",
    syncSkills: "function",
    getConfigSchema: "function",
    agentConfigurationDoc: "string",
    supportsLocalAgentJwt: "boolean",
    supportsInstructionsBundle: "boolean",
    instructionsPathKey: "string",
    requiresMaterializedRuntimeSkills: "boolean",
    hasOutOfProcessLiveness: "boolean",
  };
  expect(Object.fromEntries(Object.entries(adapter).map(([name, value]) => [name, typeof value]))).toEqual(members);
});

test("a run with settings that cannot be used is answered, not thrown, and its answer can be stored", async () => {
  const { ctx } = hostContext({ config: { image: "no image" } });
  const result = await adapter.execute(ctx);
  expect(result).toMatchObject({ exitCode: null, signal: null, timedOut: false, errorCode: expect.any(String) });
  expect(result.errorMessage).toContain("Image: ");
  expect(stored(result)).toEqual(result);
});

test("so is the form's test", async () => {
  const result = await adapter.testEnvironment({ companyId: "c", adapterType: adapter.type, config: { image: "no image" } });
  expect(result).toMatchObject({ adapterType: adapter.type, status: "fail", checks: [{ level: "error", message: expect.any(String) }] });
  expect(new Date(result.testedAt).toISOString()).toBe(result.testedAt);
  expect(stored(result)).toEqual(result);
});

test("the host's own schema takes the snapshot of the skills", async () => {
  mkdirSync(join(data, "fix"));
  writeFileSync(join(data, "fix/SKILL.md"), "How to fix.\n");
  const paperclipRuntimeSkills = [{ key: "acme/fix", runtimeName: "fix", source: join(data, "fix") }];
  const ctx = { adapterType: adapter.type, config: { paperclipRuntimeSkills } };
  for (const snapshot of [await adapter.listSkills(ctx), await adapter.syncSkills(ctx, ["acme/fix", "acme/none"])]) {
    expect(agentSkillSnapshotSchema.parse(snapshot)).toMatchObject({ supported: true });
    expect(snapshot.entries.map(({ key }) => key)).toContain("acme/fix");
  }
});

test.each([
  { image: "no image", namespace: "Bad_Name", env: { "A=B": "x" } },
  { dataPath: "/etc" },
  { dataPath: "relative" },
  { dataPath: { toString: 1 }, tolerations: [5] },
])("no setting keeps the skills from being shown: %j", async (settings) => {
  const paperclipRuntimeSkills = [{ key: "acme/fix", runtimeName: "fix", source: join(data, "fix") }];
  const ctx = { adapterType: adapter.type, config: { ...settings, paperclipRuntimeSkills } };
  // Where the data path cannot be used, the folder is the server's own.
  const skills = { supported: true, warnings: [] };
  expect(await adapter.listSkills(ctx)).toMatchObject(skills);
  expect(await adapter.syncSkills(ctx, ["acme/fix"])).toMatchObject({ ...skills, desiredSkills: ["acme/fix"] });
});

test("the host leaves long sessions to a CLI that keeps them short itself", () => {
  expect(hasSessionCompactionThresholds(exampleCli.sessionManagement.defaultSessionCompaction)).toBe(false);
});
