import { resolve } from "node:path";
import type { ClusterArguments } from "../cluster/access.ts";

export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Options as they were given. */
export type Given = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** PAPERCLIP_HOME of the server as seen from here, and the instance in it. */
export interface Place {
  /** Null = its files cannot be seen from here. */
  readonly data: string | null;
  readonly instance: string;
}

export function placeOf(given: Given, env: NodeJS.ProcessEnv): Place {
  const data = text(given.data) ?? (env.PAPERCLIP_HOME || null);
  return { data: data === null ? null : resolve(data), instance: env.PAPERCLIP_INSTANCE_ID || "default" };
}

export function clusterArguments(given: Given): ClusterArguments {
  return { kubeconfig: text(given.kubeconfig), context: text(given.context), namespaces: list(given.namespace) };
}

export const text = (value: Given[string]): string | null => (typeof value === "string" && value !== "" ? value : null);
export const list = (value: Given[string]): string[] =>
  Array.isArray(value) ? value.flatMap((item) => String(item).split(",")).filter((item) => item !== "") : [];

/** `-o json`, the only form besides text. */
export function isJson(given: Given): boolean {
  const output = text(given.output);
  if (output !== null && output !== "json") throw new UsageError(`--output: "${output}" is not json`);
  return output === "json";
}

export const DAY_SEC = 86_400;
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: DAY_SEC };

/** "90", "90s", "15m", "24h", "7d". */
export function seconds(name: string, value: Given[string], unset: number): number {
  if (value === undefined) return unset;
  const [, number, unit = "s"] = /^(\d+)([smhd]?)$/.exec(String(value)) ?? [];
  const found = Number(number) * (UNITS[unit || "s"] ?? Number.NaN);
  if (!Number.isFinite(found) || found <= 0) throw new UsageError(`--${name}: "${value}" is not a time like 90s, 15m, 24h or 7d`);
  return found;
}
