import type { removeJob } from "@paperclip-k8s/engine";
import { age, count, table } from "../table.ts";
import type { Decision } from "./decision.ts";

/** Something that looks left over, and how to remove it. */
export interface Item {
  readonly kind: "job" | "pod" | "secret" | "files" | "bundle";
  readonly name: string;
  readonly since: string | null;
  readonly bytes: number | null;
  readonly decision: Decision;
  remove(): Promise<Awaited<ReturnType<typeof removeJob>>>;
}

export const isRemovable = ({ decision }: Item): boolean => decision.kind === "remove";

/** What goes first, what stays below it. */
export function itemLines(items: readonly Item[], now: number): string[] {
  const columns = [{ title: "WHAT" }, { title: "AGE" }, { title: "" }];
  const rows = (kind: Decision["kind"]) =>
    items
      .filter(({ decision }) => decision.kind === kind)
      .map((item) => [
        item.kind,
        age(item.since, now),
        `${item.decision.why}${item.bytes === null ? "" : `, ${size(item.bytes)}`}; ${item.name}`,
      ]);
  const [going, staying] = [rows("remove"), rows("keep")];
  return [
    ...(going.length === 0 ? [] : table(columns, going)),
    ...(staying.length === 0 ? [] : ["left alone:", ...table(columns, staying)]),
  ];
}

export function totals(items: readonly Item[]): string {
  const going = items.filter(isRemovable);
  const bytes = going.reduce((sum, item) => sum + (item.bytes ?? 0), 0);
  const staying = items.length - going.length;
  return `${count(going.length, "leftover")}${bytes === 0 ? "" : ` (${size(bytes)})`}${staying === 0 ? "" : `, ${staying} left alone`}`;
}

/** "12 MB", to two digits at most. */
function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** step;
  return `${value < 10 && step > 0 ? value.toFixed(1) : Math.round(value)} ${units[step]}`;
}
