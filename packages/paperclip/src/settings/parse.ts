import { withoutTrailing } from "@paperclip-k8s/engine";
import { homeOf } from "../host/paths.ts";
import type { AgentConfig } from "./agent-config.ts";
import { type Field, type Fields, type Raw, read, type ValuesOf } from "./field.ts";
import { CLAIM_FIELDS } from "./fields/state.ts";
import { mountPath } from "./kinds/text-checks.ts";
import { resources } from "./resources.ts";
import { commonFields, type SettingsOwner } from "./schema.ts";
import { unknownKeys } from "./unknown-keys.ts";
import { argumentWarnings, limitWarnings, takeOverWarnings, userLabels } from "./warnings.ts";

/** Reads an agent's adapterConfig; throws a ConfigError that names the field. */
export function parseConfig<Own extends Fields>(raw: Raw, serverEnv: NodeJS.ProcessEnv, cli: SettingsOwner<Own>): AgentConfig<Own> {
  const hidden = cli.state?.claim === undefined ? CLAIM_FIELDS : [];
  const values = readAll(commonFields, raw, hidden);
  const labels = userLabels(values.labels ?? {});
  const { requestCpu, requestMemory, limitCpu, limitMemory, instructionsRootPath, instructionsEntryFile, ...others } = values;
  const { instructionsBundleMode, showAllSettings, ...rest } = others;
  if (values.model !== null) cli.settings.checkModel?.(values.model, commonFields.model.key);
  const dataPath = values.dataPath ?? mountPath(homeOf(serverEnv), "dataPath (from PAPERCLIP_HOME)");
  return {
    ...rest,
    own: readAll(cli.settings.own, raw),
    instructionsFilePath: values.instructionsFilePath ?? fileIn(instructionsRootPath, instructionsEntryFile),
    resources: resources(raw),
    labels: labels.labels,
    dataPath,
    skillsFolder: `${dataPath}/${cli.skillsFolder}`,
    instanceId: serverEnv.PAPERCLIP_INSTANCE_ID || "default",
    warnings: [
      ...unknownKeys(raw, cli),
      ...labels.warnings,
      ...argumentWarnings(values.extraArgs),
      ...limitWarnings(raw),
      ...takeOverWarnings(raw),
    ],
  };
}

/** A hidden setting always has its default. */
function readAll<F extends Fields>(fields: F, raw: Raw, hidden: readonly string[] = []): ValuesOf<F> {
  const value = (name: string, field: Field<unknown>): unknown => (hidden.includes(name) ? field.unset : read(field, raw));
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, value(name, field)])) as ValuesOf<F>;
}

function fileIn(folder: string | null, file: string): string | null {
  return folder === null ? null : `${withoutTrailing(folder, "/")}/${file}`;
}
