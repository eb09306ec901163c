import type { Field } from "./field.ts";
import { settingName } from "./setting-name.ts";

/** What a run's log and the Test button say about a setting that is not used as it was written. */
export interface Note {
  /** Key of the setting, as it was given. */
  readonly setting: string;
  /** Without the setting's name. */
  readonly text: string;
  /** The whole line. */
  readonly message: string;
}

export function noted(field: Pick<Field<unknown>, "label" | "key">, text: string): Note {
  return { setting: field.key, text, message: `${settingName(field)}: ${text}` };
}
