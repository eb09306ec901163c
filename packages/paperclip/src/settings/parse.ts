import type { AgentConfig } from "./agent-config.ts";
import { argumentWarnings } from "./argument-warnings.ts";
import { type Field, isOf, type Raw } from "./field.ts";
import { OPENCODE } from "./fields/adapters.ts";
import { mountPath } from "./kinds/text-checks.ts";
import { limitWarnings } from "./limit-warnings.ts";
import { read } from "./read-field.ts";
import { resources } from "./resources.ts";
import { fields, type Values } from "./schema.ts";
import { unknownKeys } from "./unknown-keys.ts";
import { userLabels } from "./user-labels.ts";

/** Reads an agent's adapterConfig; throws a ConfigError that names the field. */
export function parseConfig(raw: Raw, serverEnv: NodeJS.ProcessEnv, adapter: string = OPENCODE): AgentConfig {
  const values = readAll(raw, adapter);
  const labels = userLabels(values.labels ?? {});
  const { requestCpu, requestMemory, limitCpu, limitMemory, instructionsRootPath, instructionsEntryFile, instructionsBundleMode, ...rest } =
    values;
  return {
    ...rest,
    instructionsFilePath: values.instructionsFilePath ?? fileIn(instructionsRootPath, instructionsEntryFile),
    resources: resources(raw),
    labels: labels.labels,
    dataPath: values.dataPath ?? mountPath(serverEnv.PAPERCLIP_HOME || "/paperclip", "dataPath (from PAPERCLIP_HOME)"),
    instanceId: serverEnv.PAPERCLIP_INSTANCE_ID || "default",
    warnings: [...unknownKeys(raw, adapter), ...labels.warnings, ...argumentWarnings(values.extraArgs), ...limitWarnings(raw)],
  };
}

/** A setting of another adapter is not even looked at. */
function readAll(raw: Raw, adapter: string): Values {
  const value = (field: Field<unknown>): unknown => (isOf(field, adapter) ? read(field, raw) : field.unset);
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, value(field)])) as unknown as Values;
}

function fileIn(folder: string | null, file: string): string | null {
  return folder === null ? null : `${folder.replace(/\/+$/, "")}/${file}`;
}
