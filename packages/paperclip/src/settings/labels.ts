import { commonFields } from "./schema.ts";

/** Fields that are in the platform's own form, by the names that it shows. */
const PLATFORM: Readonly<Record<string, string>> = {
  model: "Model",
  env: "Environment variables",
  command: "Command",
  extraArgs: "Extra args",
  timeoutSec: "Timeout (sec)",
  graceSec: "Interrupt grace period (sec)",
};

/** A setting's name in the form; null = it is in no form. */
export function formLabel(key: string): string | null {
  return PLATFORM[key] ?? Object.values(commonFields).find((field) => field.key === key)?.form?.label ?? null;
}
