import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CliName } from "../../../../packages/adapters.ts";
import { prepareRelease, type Version } from "../../src/server/release.ts";

/** Where the host's own adapters read an agent's settings, besides their own packages: the engine that some of them share. */
const SHARED = "adapter-utils/dist/acpx-engine/execute.js";

/** What looks like a setting in their code and is none. */
const NO_SETTINGS = new Set(["js", "json", "toml", "ts"]);

/** Every setting that the host's own adapter for a CLI reads, from its code and from the list that it gives to agents. */
export async function builtInKeys(version: Version, cli: CliName): Promise<readonly string[]> {
  const packages = join(await prepareRelease(version), "node_modules/@paperclipai");
  const own = join(packages, `adapter-${cli}-local/dist/server`);
  const files = readdirSync(own).filter((name) => name.endsWith(".js") && !name.endsWith(".test.js"));
  const texts = files.map((name) => readFileSync(join(own, name), "utf8"));
  const usesShared = texts.some((text) => text.includes("acpx-engine/execute"));
  const code = [...texts, ...(usesShared ? [readFileSync(join(packages, SHARED), "utf8")] : [])].join("\n");
  const { agentConfigurationDoc } = (await import(join(packages, `adapter-${cli}-local/dist/index.js`))) as {
    agentConfigurationDoc: string;
  };
  const found = [
    ...[...code.matchAll(/\bconfig\.([A-Za-z]+)/g)].map(([, key]) => key ?? ""),
    ...[...agentConfigurationDoc.matchAll(/^- ([a-zA-Z]+) \(/gm)].map(([, key]) => key ?? ""),
  ];
  return [...new Set(found)].filter((key) => !NO_SETTINGS.has(key)).sort();
}
