import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Llm, scriptedSettings } from "@paperclip-k8s/llm";
import { type AdapterKit, adapters, type CliName, cliNames, loadKits } from "../packages/adapters.ts";

const MODULES = fileURLToPath(new URL("../node_modules", import.meta.url));

/** An agent CLI that the demo can run, with the adapter that runs it. */
export interface DemoAgent extends Pick<AdapterKit, "title" | "createServerAdapter" | "formatLine"> {
  readonly name: string;
  readonly type: string;
  readonly version: string;
  /** Settings that make the scripted LLM its model. */
  settings(llm: Llm): Readonly<Record<string, unknown>>;
}

// Asking a CLI itself for its version would leave folders in the user's home.
const versionOf = (name: string): string => JSON.parse(readFileSync(join(MODULES, name, "package.json"), "utf8")).version;

const kits = await loadKits();

const agentOf = (name: CliName): DemoAgent => ({
  ...kits[name],
  name,
  type: kits[name].cli.type,
  version: versionOf(adapters[name].npm),
  settings: (llm) => scriptedSettings(kits[name].scriptedModel(llm, { name: "demo-1" })),
});

export const agents = cliNames.map(agentOf) as [DemoAgent, ...DemoAgent[]];
