import type { Raw } from "./field.ts";

/** What an earlier adapter did with a setting, where that differs from now. */
export interface EarlierSetting {
  readonly setting: string;
  readonly kind: "changed" | "removed";
  /** Whether this value is concerned; undefined = not set. Without it: every value that is set. */
  readonly when?: (value: unknown, raw: Raw) => boolean;
  readonly text: string;
  readonly todo: string;
}
