import type { ScriptedModel, ScriptedOptions } from "@paperclip-k8s/llm";
import type { AgentCli } from "@paperclip-k8s/paperclip";
import type { ServerAdapter } from "@paperclip-k8s/paperclip/host";
import type { agentClis } from "./agent-clis.ts";

/** The agent CLIs with what build, docs, demo, bench and test bed need of them; `agent-clis.ts` has the product's part. A new CLI is a folder and a line in each. */
export const adapters = {
  opencode: { folder: "adapter-opencode", npm: "opencode-ai", load: () => import("./adapter-opencode/testing/kit.ts") },
  claude: { folder: "adapter-claude", npm: "@anthropic-ai/claude-code", load: () => import("./adapter-claude/testing/kit.ts") },
} as const satisfies Readonly<Record<keyof typeof agentClis, RegisteredAdapter>>;

/** A CLI's name: that of its program, too; with `_k8s` behind it, the adapter's type at the host; with `_local`, that of the host's own. */
export type CliName = keyof typeof adapters;
export const cliNames = Object.keys(adapters) as [CliName, ...CliName[]];

/** The packages that we publish for the CLIs: the adapter of our own type, and the one that takes the built-in type's place. */
export const adapterPackages: readonly AdapterPackage[] = cliNames.flatMap((cli) => {
  const { folder } = adapters[cli];
  return [
    { cli, source: folder, folder, entry: "index", inPlace: false },
    { cli, source: folder, folder: `${folder}/in-place`, entry: "in-place", inPlace: true },
  ];
});

interface AdapterPackage {
  readonly cli: CliName;
  /** Folder of its sources, below `packages/`. */
  readonly source: string;
  /** Folder of its package.json, below `packages/`. */
  readonly folder: string;
  /** Its entry, a file of `src/`. */
  readonly entry: string;
  readonly inPlace: boolean;
}

interface RegisteredAdapter {
  /** Below `packages/`. */
  readonly folder: string;
  /** The npm package with the real CLI; its version is in our package.json. */
  readonly npm: string;
  load(): Promise<{ readonly kit: AdapterKit }>;
}

/** What demo, bench and tests need of a CLI, besides what its adapter gives to the host. */
export interface AdapterKit {
  /** What people call the CLI. */
  readonly title: string;
  readonly cli: AgentCli;
  createServerAdapter(): ServerAdapter;
  formatLine(line: string, options: { readonly color: boolean }): string;
  /** Settings that make the scripted LLM the CLI's model. */
  scriptedModel(llm: { readonly url: string }, options?: ScriptedOptions): ScriptedModel;
  /** How the real CLI is started by hand against the scripted LLM: with the variables that this machine needs, and as it would start without the adapter's cuts. */
  readonly start: {
    readonly env: Readonly<Record<string, string>>;
    readonly uncut: { readonly own?: Readonly<Record<string, unknown>>; readonly env?: Readonly<Record<string, string>> };
  };
  /** Variables that let one command of the agent last 20 minutes. */
  readonly longCommands: Readonly<Record<string, string>>;
  /** Below HOME: folders in which it keeps a session as files. */
  readonly sessionFolders: readonly string[];
  /** The accounts that the host can give to agents of the built-in type: one of each kind. */
  readonly accounts: readonly AccountKind[];
  /** Makes a long session of a short one that the real CLI has left in this home: about so many messages. */
  growSession(home: string, messages: number): void;
}

export interface AccountKind {
  readonly provider: string;
  readonly method: "api_key" | "subscription";
  readonly model: string;
  /** What the CLI's own login leaves in a folder; none for a key. */
  readonly login?: (token: string) => { readonly file: string; readonly text: string };
  /** A file of a project that would send the key to another address. */
  readonly misleading?: (url: string) => { readonly file: string; readonly text: string };
}

/** The kits of all CLIs, by name. */
export async function loadKits(): Promise<Readonly<Record<CliName, AdapterKit>>> {
  const kits = cliNames.map(async (name) => [name, (await adapters[name].load()).kit] as const);
  return Object.fromEntries(await Promise.all(kits)) as Record<CliName, AdapterKit>;
}
