import type { SQLOutputValue } from "node:sqlite";

/** How many bytes a row takes in memory, about. */
export const rowSize = (row: Readonly<Record<string, SQLOutputValue>>): number =>
  Object.values(row).reduce<number>((sum, value) => sum + 8 + bytesOf(value), 0);

function bytesOf(value: SQLOutputValue): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  return ArrayBuffer.isView(value) ? value.byteLength : 0;
}
