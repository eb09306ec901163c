import type { Argument } from "@paperclip-k8s/engine";
import type { CliPlan } from "@paperclip-k8s/paperclip";
import { noPluginInstall } from "../config-layer.ts";
import { catalogueOf, loadCatalogue } from "./catalogue.ts";
import { ourPlugin } from "./plugin.ts";
import { OWN_CATALOGUE, OWN_CONFIG, OWN_SETTINGS, type RunModels, usedProviders } from "./used-providers.ts";

const MODELS_FILE = "opencode-models.json";
/** Nearly every provider fits; many large ones together do not: each run has a Secret of its own. */
const MOST_BYTES = 256 * 1024;
/** What a Secret holds is for the prompt, the environment and the settings first. */
const MOST_OTHER_BYTES = 512 * 1024;

/** Providers that a plugin of OpenCode's own does something for, besides the login. */
const WITH_PLUGIN = new Set([
  ...["openai", "github-copilot", "github-copilot-enterprise", "modal", "gitlab", "poe", "cloudflare-workers-ai"],
  ...["cloudflare-ai-gateway", "azure", "azure-cognitive-services", "digitalocean", "snowflake-cortex", "xai"],
]);

/** Folders of settings, plugins or tools of somebody's own: from seeds, a template or the image. */
const OWN_FOLDERS = [".config/opencode", ".opencode", "/etc/opencode"];
/** With logins. */
const OWN_FILES = [...OWN_FOLDERS, ".local/share/opencode/auth.json"];

/** Set whatever else the pod has: nobody watches files in a run. */
const ALWAYS = { OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER: "true" } as const;
/** Language servers that are downloaded are gone after the run; who has settings for them wants them. */
const NO_LSP_DOWNLOAD = { OPENCODE_DISABLE_LSP_DOWNLOAD: "true" } as const;

const NO_FETCH = "OPENCODE_DISABLE_MODELS_FETCH";

export interface StartingRun extends RunModels {
  readonly values: Readonly<Record<string, string>>;
  readonly promptBytes: number;
}

/**
 * What makes OpenCode start faster with the same result; a variable that is set by somebody else stays as it is. Our plugin goes with it:
 * elsewhere OpenCode would wait for the installation of its plugin package before it loads one.
 */
export async function fastStart(run: StartingRun): Promise<Required<Pick<CliPlan, "plainEnv" | "files" | "defaults">>> {
  const { file, env } = await cutCatalogue(run);
  const hasPlugins = Array.isArray(run.settings.plugin) && run.settings.plugin.length > 0;
  return {
    plainEnv: unset(ALWAYS, run),
    files: { ...ourPlugin.files, ...(file !== null && { [MODELS_FILE]: file }) },
    // The image may set these variables; not XDG_*, which each pod has from us.
    defaults: [
      // Logins are no hindrance for a plugin.
      { unless: OWN_FOLDERS, unlessSet: OWN_CONFIG, env: unset(ourPlugin.env, run), files: hasPlugins ? {} : pluginPackage },
      {
        unless: OWN_FILES,
        unlessSet: [...OWN_SETTINGS, ...(file === null ? [] : OWN_CATALOGUE)],
        env: unset({ ...env, ...(run.settings.lsp === undefined && NO_LSP_DOWNLOAD) }, run),
        files: {},
      },
    ],
  };
}

/** Makes OpenCode believe that its plugin package is installed. */
const pluginPackage = Object.fromEntries(Object.entries(noPluginInstall).map(([path, text]) => [`.config/opencode/${path}`, text]));

interface Cut {
  readonly file: string | null;
  readonly env: Readonly<Record<string, Argument>>;
}

const NOTHING_CUT: Cut = { file: null, env: {} };

async function cutCatalogue(run: StartingRun): Promise<Cut> {
  // Who wants the newest catalogue gets it whole.
  if (isSet(NO_FETCH, run) && !/^(1|true)$/i.test(run.values[NO_FETCH] ?? "")) return NOTHING_CUT;
  const otherBytes = run.promptBytes + Buffer.byteLength(JSON.stringify([run.values, run.settings]));
  const catalogue = otherBytes > MOST_OTHER_BYTES ? null : await loadCatalogue();
  const ids = catalogue === null ? null : await usedProviders(run, catalogue);
  if (catalogue === null || ids === null) return NOTHING_CUT;
  if (ids.reduce((sum, id) => sum + catalogue[id]!.bytes, 0) > MOST_BYTES) return NOTHING_CUT;
  const env = {
    OPENCODE_MODELS_PATH: { file: MODELS_FILE },
    [NO_FETCH]: "true",
    ...(!ids.some((id) => WITH_PLUGIN.has(id)) && { OPENCODE_DISABLE_DEFAULT_PLUGINS: "true" }),
  };
  return { file: await catalogueOf(catalogue, ids), env };
}

/** Also to nothing. */
const isSet = (name: string, { names, values }: StartingRun): boolean => names.has(name) || values[name] !== undefined;

const unset = <Value>(env: Readonly<Record<string, Value>>, run: StartingRun): Record<string, Value> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !isSet(name, run)));
