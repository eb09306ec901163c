import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { adaptersOf } from "../../src/host/adapters.ts";
import type { Stage } from "../../src/stage.ts";

/** An adapter whose agents' settings say what `execute` returns: results as earlier versions of ours returned them, with nothing in the cluster. */
export const RETURNING = "returning_k8s";

export async function installReturning({ host }: Stage): Promise<void> {
  const folder = join(host.home.tmp, "paperclip-adapter-returning");
  mkdirSync(folder);
  const manifest = { name: "paperclip-adapter-returning", version: "1.0.0", type: "module", exports: { ".": "./index.js" } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "index.js"), PROGRAM);
  await adaptersOf(host).install(folder);
}

const PROGRAM = `
export function createServerAdapter() {
  return {
    type: "${RETURNING}",
    models: [],
    agentConfigurationDoc: "",
    execute: async ({ config }) => {
      if (config.hangs) return new Promise(() => {});
      if (config.throws) throw new Error(config.throws);
      return config.result;
    },
    testEnvironment: async () => ({ adapterType: "${RETURNING}", status: "pass", checks: [], testedAt: new Date().toISOString() }),
  };
}
`;

/** The settings of an agent after somebody has repaired what was wrong with it. */
export const REPAIRED = { hangs: false, throws: "", result: { exitCode: 0, signal: null, timedOut: false, summary: "Done." } };
