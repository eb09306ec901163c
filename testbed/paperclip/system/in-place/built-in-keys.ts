import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CliName } from "../../../../packages/adapters.ts";
import { prepareRelease, type Version } from "../../src/server/release.ts";

/** Files of the host's packages in which its own adapters read an agent's settings. */
const FILES: Readonly<Record<CliName, readonly string[]>> = {
  claude: [
    "adapter-claude-local/dist/server/execute.js",
    "adapter-claude-local/dist/server/acp.js",
    "adapter-utils/dist/acpx-engine/execute.js",
  ],
  opencode: ["adapter-opencode-local/dist/server/execute.js", "adapter-opencode-local/dist/server/runtime-config.js"],
};

/** What looks like a setting in their code and is none. */
const NO_SETTINGS = new Set(["js", "json", "toml"]);

/** Every setting that the host's own adapter for a CLI reads, from its code and from the list that it gives to agents. */
export async function builtInKeys(version: Version, cli: CliName): Promise<readonly string[]> {
  const packages = join(await prepareRelease(version), "node_modules/@paperclipai");
  const code = FILES[cli].map((file) => readFileSync(join(packages, file), "utf8")).join("\n");
  const { agentConfigurationDoc } = (await import(join(packages, `adapter-${cli}-local/dist/index.js`))) as {
    agentConfigurationDoc: string;
  };
  const found = [
    ...[...code.matchAll(/\bconfig\.([A-Za-z]+)/g)].map(([, key]) => key ?? ""),
    ...[...agentConfigurationDoc.matchAll(/^- ([a-zA-Z]+) \(/gm)].map(([, key]) => key ?? ""),
  ];
  return [...new Set(found)].filter((key) => !NO_SETTINGS.has(key)).sort();
}
