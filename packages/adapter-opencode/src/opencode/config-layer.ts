import { ConfigError } from "@paperclip-k8s/paperclip";
import { isObject, type Json } from "./json.ts";
import { providerOf } from "./models.ts";

interface ConfigLayerOptions {
  /** The configured model, `provider/model`. */
  readonly model?: string | null;
  readonly dangerouslySkipPermissions?: boolean;
  /** The run's environment so far; our settings for OpenCode are read from it. */
  readonly env?: Env;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Environment that makes up our layer; `secret` must not stand in a Job spec, because providers may hold keys. */
interface ConfigLayer {
  readonly env: { readonly plain: Readonly<Record<string, string>>; readonly secret: Readonly<Record<string, string>> };
  /** What the user wants of OpenCode, without our own settings. */
  readonly settings: Json;
  readonly notes: readonly string[];
}

/** Objects are merged, everything else is replaced: what OpenCode does with its own layers. */
function merge(base: Json, over: Json): Json {
  const merged: Json = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isObject(below) && isObject(value) ? merge(below, value) : value;
  }
  return merged;
}

// The parser's own message quotes the text, which may hold a key.
function readObject(field: string, text: string | undefined): Json {
  if (text === undefined || text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ConfigError(field, "is not valid JSON");
  }
  if (!isObject(value)) throw new ConfigError(field, "must be a JSON object");
  return value;
}

// A model that OpenCode's list does not have is refused unless its provider names it; what the list knows about it stays.
function registerModel(providers: Json, model: string | null | undefined): Json {
  const provider = providerOf(model);
  if (!model || provider === null) return providers;
  return merge({ [provider]: { models: { [model.slice(provider.length + 1)]: {} } } }, providers);
}

// Its free tier would be picked by itself where no model is named, and send the prompt to a party nobody chose. An empty list of models
// disables it; `disabled_providers` would replace the user's own list.
function withoutFreeTier(providers: Json, models: readonly unknown[], env: Env): Json {
  const wanted = models.some((id) => typeof id === "string" && providerOf(id) === "opencode");
  return wanted || env.OPENCODE_API_KEY ? providers : merge({ opencode: { whitelist: [] } }, providers);
}

function settings({ dangerouslySkipPermissions = true }: ConfigLayerOptions, smallModel: string | undefined, provider: Json): Json {
  return {
    autoupdate: false,
    share: "disabled",
    snapshot: false,
    ...(dangerouslySkipPermissions && { permission: { external_directory: "allow" } }),
    ...(smallModel && { small_model: smallModel }),
    ...(Object.keys(provider).length > 0 && { provider }),
  };
}

function describeLayer(providers: Json, smallModel: string | undefined, base: Json): string[] {
  const names = Object.keys(providers);
  return [
    ...(names.length > 0 ? [`providers from PAPERCLIP_OPENCODE_PROVIDERS: ${names.join(", ")}`] : []),
    ...(smallModel ? [`small model ${smallModel}`] : []),
    ...(Object.keys(base).length > 0 ? ["merged over OPENCODE_CONFIG_CONTENT of the environment"] : []),
  ];
}

/**
 * Our settings as OpenCode's OPENCODE_CONFIG_CONTENT: the layer above the user's config files, which are read and never written (an
 * OPENCODE_CONFIG file would lie below a project's). `{env:X}` stays as it is: OpenCode expands it in the pod.
 */
export function configLayer(options: ConfigLayerOptions = {}): ConfigLayer {
  const env = options.env ?? {};
  const smallModel = env.PAPERCLIP_OPENCODE_SMALL_MODEL?.trim() || undefined;
  const base = readObject("OPENCODE_CONFIG_CONTENT", env.OPENCODE_CONFIG_CONTENT);
  const providers = readObject("PAPERCLIP_OPENCODE_PROVIDERS", env.PAPERCLIP_OPENCODE_PROVIDERS);
  const registered = registerModel(providers, options.model);
  const provider = withoutFreeTier(registered, [options.model, smallModel, base.model, base.small_model], env);
  const ours = settings(options, smallModel, provider);
  return {
    env: {
      plain: {
        OPENCODE_DISABLE_PROJECT_CONFIG: "true",
        OPENCODE_DISABLE_AUTOUPDATE: "true",
        // Without its log, OpenCode reports of an unknown model or of a retry only that something is wrong.
        OPENCODE_PRINT_LOGS: env.OPENCODE_PRINT_LOGS ?? "1",
        OPENCODE_LOG_LEVEL: env.OPENCODE_LOG_LEVEL ?? "ERROR",
      },
      secret: { OPENCODE_CONFIG_CONTENT: JSON.stringify(merge(base, ours)) },
    },
    settings: merge(base, { provider: providers, ...(smallModel && { small_model: smallModel }) }),
    notes: describeLayer(providers, smallModel, base),
  };
}

/**
 * Files that, in an `opencode` config directory of their own, keep OpenCode from installing its plugin package from the npm registry in
 * the background of each run. Only for a directory without a package.json: plugins of the user's need the real installation.
 */
export const noPluginInstall: Readonly<Record<string, string>> = {
  "node_modules/.keep": "",
  "package-lock.json": `${JSON.stringify({ packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } })}\n`,
};
