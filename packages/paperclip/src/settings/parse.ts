import { withoutTrailing } from "@paperclip-k8s/engine";
import { recordOf } from "../host/context-values.ts";
import { homeOf } from "../host/paths.ts";
import type { AgentConfig } from "./agent-config.ts";
import type { Field, Fields, Raw, ValuesOf } from "./field.ts";
import { CLAIM_FIELDS } from "./fields/state.ts";
import { mountPath } from "./kinds/text-checks.ts";
import type { Note } from "./note.ts";
import { look, type Sources } from "./read.ts";
import { resources } from "./resources.ts";
import { commonFields, type SettingsOwner } from "./schema.ts";
import { unknownKeys } from "./unknown-keys.ts";
import { argumentWarnings, limitWarnings, userLabels } from "./warnings.ts";

interface Parsed<Own extends Fields> {
  readonly config: AgentConfig<Own>;
  /** Settings that are not used as they were written. */
  readonly notes: readonly Note[];
}

/** Reads an agent's adapterConfig; throws a ConfigError that names the field. `defaults`: what counts for settings that the agent does not have. */
export function parseConfig<Own extends Fields>(
  raw: Raw,
  serverEnv: NodeJS.ProcessEnv,
  cli: SettingsOwner<Own>,
  defaults: Raw = {},
): AgentConfig<Own> {
  return parseSettings(raw, serverEnv, cli, defaults).config;
}

/** The same, with the settings that the warnings are about. */
export function parseSettings<Own extends Fields>(
  raw: unknown,
  serverEnv: NodeJS.ProcessEnv,
  cli: SettingsOwner<Own>,
  defaults: Raw = {},
): Parsed<Own> {
  const given = recordOf(raw);
  const sources: Sources = [given, defaults];
  const hidden = cli.state?.claim === undefined ? CLAIM_FIELDS : [];
  const { values, notes: unused } = readAll(commonFields, sources, hidden);
  const own = readAll(cli.settings.own, sources);
  const labels = userLabels(values.labels ?? {});
  const amounts = resources(sources);
  const { requestCpu, requestMemory, limitCpu, limitMemory, instructionsRootPath, instructionsEntryFile, ...others } = values;
  const { instructionsBundleMode, showAllSettings, ...rest } = others;
  if (values.model !== null) cli.settings.checkModel?.(values.model, commonFields.model.key);
  const dataPath = values.dataPath ?? usualDataPath(serverEnv);
  const notes = [
    ...unknownKeys(given, cli),
    ...unused,
    ...own.notes,
    ...amounts.notes,
    ...labels.notes,
    ...argumentWarnings(values.extraArgs),
    ...limitWarnings(given),
  ];
  const config: AgentConfig<Own> = {
    ...rest,
    own: own.values,
    instructionsFilePath: values.instructionsFilePath ?? fileIn(instructionsRootPath, instructionsEntryFile),
    resources: amounts.resources,
    labels: labels.labels,
    dataPath,
    skillsFolder: skillsFolderIn(dataPath, cli),
    instanceId: serverEnv.PAPERCLIP_INSTANCE_ID || "default",
    warnings: notes.map(({ message }) => message),
  };
  return { config, notes };
}

export const usualDataPath = (serverEnv: NodeJS.ProcessEnv): string => mountPath(homeOf(serverEnv), "dataPath (from PAPERCLIP_HOME)");

export const skillsFolderIn = (dataPath: string, cli: Pick<SettingsOwner, "skillsFolder">): string => `${dataPath}/${cli.skillsFolder}`;

/** Each value, or its default; a hidden setting always has its default. The one place where values are read, so that none is ignored in silence. */
function readAll<F extends Fields>(
  fields: F,
  sources: Sources,
  hidden: readonly string[] = [],
): { readonly values: ValuesOf<F>; readonly notes: readonly Note[] } {
  const notes: Note[] = [];
  const read = (field: Field<unknown>): unknown => {
    const found = look(field, sources);
    notes.push(...found.notes);
    return found.value ?? field.unset;
  };
  const values = Object.entries(fields).map(([name, field]) => [name, hidden.includes(name) ? field.unset : read(field)]);
  return { values: Object.fromEntries(values) as ValuesOf<F>, notes };
}

function fileIn(folder: string | null, file: string): string | null {
  return folder === null ? null : `${withoutTrailing(folder, "/")}/${file}`;
}
