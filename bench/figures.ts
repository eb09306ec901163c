/** One line of the table. `ok` is null where there is no budget to hold. */
export interface Row {
  readonly what: string;
  readonly budget: string;
  readonly measured: string;
  readonly ok: boolean | null;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);
export const largest = (values: readonly number[]): number => percentile(values, 1);
export const ms = (value: number): string => `${Math.round(value).toLocaleString("en")} ms`;

export const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

/** `p50 / p99 / max`. */
export function spread(values: readonly number[]): string {
  return `${Math.round(median(values))} / ${Math.round(percentile(values, 0.99))} / ${Math.round(largest(values))} ms`;
}

const mark = (ok: boolean | null): string => (ok === null ? "" : ok ? "ok" : "**over**");

export const lines = (rows: readonly Row[]): string[] =>
  rows.map(({ what, budget, measured, ok }) => `| ${what} | ${budget} | ${measured} | ${mark(ok)} |`);

export const table = (rows: readonly Row[]): string => ["| what | budget | measured | |", "|---|---|---|---|", ...lines(rows)].join("\n");
