import { isObject, type Json } from "../json.ts";
import { providerOf } from "../models.ts";
import { type Catalogue, textOf } from "./catalogue.ts";

/** What is known of a run before it starts, as far as it decides which models it can use. */
export interface RunModels {
  /** The agent's own; null = the CLI chooses. */
  readonly model: string | null;
  readonly extraArgs: readonly string[];
  /** All of OpenCode's settings that the run gets through its environment. */
  readonly settings: Json;
  /** Variables that are set or may be. */
  readonly names: ReadonlySet<string>;
}

/** Variables that name settings or logins which nobody sees from here. */
export const OWN_CONFIG = ["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"] as const;
/** With logins. */
export const OWN_SETTINGS = [...OWN_CONFIG, "OPENCODE_AUTH_CONTENT"] as const;
/** Variables that name another catalogue. */
export const OWN_CATALOGUE = ["OPENCODE_MODELS_PATH", "OPENCODE_MODELS_URL"] as const;
const UNSEEN = [...OWN_SETTINGS, ...OWN_CATALOGUE, "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/** Options that name another model than the agent's. */
const MODEL_OPTION = /^(-m|--model)(=|$)/;

/**
 * The providers that a run could use, those of the catalogue: named by a model or by settings, or with a key in the environment. Null where
 * that is not certain, or where the catalogue lacks a model: then the CLI's own list, or the newest, may know more.
 */
export async function usedProviders(run: RunModels, catalogue: Catalogue): Promise<readonly string[] | null> {
  if (UNSEEN.some((name) => run.names.has(name)) || run.extraArgs.some((arg) => MODEL_OPTION.test(arg))) return null;
  const named = [...new Set([...(run.model === null ? [] : [run.model]), ...modelsIn(run.settings)])];
  if (run.model === null && typeof run.settings.model !== "string") return null;
  for (const model of named) if (!(await isKnown(model, run.settings, catalogue))) return null;
  const defined = Object.keys(providersIn(run.settings));
  const ids = new Set([...named.map((model) => providerOf(model)), ...defined]);
  return Object.keys(catalogue).filter((id) => ids.has(id) || catalogue[id]!.env.some((name) => run.names.has(name)));
}

/** Whether the cut catalogue says about a model all that the whole one could say. */
async function isKnown(model: string, settings: Json, catalogue: Catalogue): Promise<boolean> {
  const id = providerOf(model);
  if (id === null) return false;
  const entry = Object.hasOwn(catalogue, id) ? catalogue[id]! : null;
  if (entry === null) return isComplete(providersIn(settings)[id]);
  const { models } = JSON.parse(await textOf(entry)) as { models: object };
  return Object.hasOwn(models, model.slice(id.length + 1));
}

const providersIn = ({ provider }: Json): Json => (isObject(provider) ? provider : {});

/** A provider of the user's own needs no catalogue. */
function isComplete(provider: unknown): boolean {
  if (!isObject(provider)) return false;
  const { npm, api, options } = provider;
  return typeof npm === "string" || typeof api === "string" || (isObject(options) && typeof options.baseURL === "string");
}

/** No settings of OpenCode's are so deep; what is deeper counts as a model that nobody knows. */
const MOST_DEPTH = 16;
const UNKNOWN = "";

/** Settings of agents, modes and commands name models too. */
function modelsIn(value: unknown, key = "", depth = 0): string[] {
  if (typeof value === "string") return key === "model" || key === "small_model" ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  if (depth > MOST_DEPTH) return [UNKNOWN];
  return Object.entries(value).flatMap(([name, part]) => modelsIn(part, name, depth + 1));
}
