import { isRecord } from "../host/context-values.ts";

// A CLI's events are loose JSON: these read one value of it, or nothing.

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const textOrNull = (value: unknown): string | null => textOf(value) || null;
/** A number of tokens or dollars, as an agent's output says it. Never negative: that would lower the sum of the runs. */
export const countOf = (value: unknown): number => (typeof value === "number" && value > 0 ? Math.min(value, MOST) : 0);
const MOST = 1e12;
export const numberOrNull = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** The JSON object that a line is; undefined when it is none. */
export function parseFields(text: string): Fields | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}
