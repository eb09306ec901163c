import type { LineBudget } from "./budgets.ts";
import { largest, median, percentile, type Row, spread } from "./figures.ts";
import type { RunRecord } from "./protocol.ts";
import { type Stamped, stampsOf } from "./stamp.ts";

/** A run's record with the stamps of its lines. */
export interface StampedRun {
  readonly record: RunRecord;
  readonly stamps: readonly Stamped[];
}

/** A run that failed has measured nothing. */
export function stampedRuns(records: readonly RunRecord[]): StampedRun[] {
  for (const { exitCode, error } of records) if (exitCode !== 0) throw new Error(`a run of the bench failed: ${error ?? exitCode}`);
  return records.map((record) => ({ record, stamps: stampsOf(record.log) }));
}

export const lateness = (stamp: Stamped): number => stamp.seenAt - stamp.writtenAt;
export const latenessOf = (runs: readonly StampedRun[]): number[] => runs.flatMap(({ stamps }) => stamps.map(lateness));
/** From the call to the CLI's first act. */
export const startOf = ({ record, stamps }: StampedRun): number => (stamps[0]?.writtenAt ?? Number.NaN) - record.calledAt;
/** From the CLI's last line to the result. */
export const returnOf = ({ record, stamps }: StampedRun): number => record.returnedAt - (stamps.at(-1)?.writtenAt ?? record.calledAt);

/** Of so many lines that were written. */
export function lostAndTwice(runs: readonly StampedRun[], written: number): { readonly lost: number; readonly twice: number } {
  const distinct = runs.reduce((sum, { stamps }) => sum + new Set(stamps.map(({ n }) => n)).size, 0);
  return { lost: written - distinct, twice: latenessOf(runs).length - distinct };
}

/** How late lines were and whether one was lost; `budget` null: it is only shown. */
export function lineRows(name: string, runs: readonly StampedRun[], written: number, budget: LineBudget | null): Row[] {
  const late = latenessOf(runs);
  const first = runs.flatMap(({ stamps }) => stamps.slice(0, 1).map(lateness));
  const { lost, twice } = lostAndTwice(runs, written);
  return [
    {
      what: `line written → \`onLog\`, ${name}: p50 / p99 / max`,
      budget: budgetText(budget),
      measured: `${spread(late)}; first lines ${spread(first)}`,
      ok: budget === null ? null : median(late) <= budget.p50 && (budget.p99 === null || percentile(late, 0.99) <= budget.p99),
    },
    {
      what: `lines lost / twice, ${name}`,
      budget: "0 / 0",
      measured: `${lost} / ${twice} of ${written.toLocaleString("en")}`,
      ok: lost === 0 && twice === 0,
    },
  ];
}

const budgetText = (budget: LineBudget | null): string =>
  budget === null ? "–" : budget.p99 === null ? `${budget.p50} ms` : `${budget.p50} / ${budget.p99} ms`;

/** The last line → `execute` returns. */
export function returnRow(name: string, runs: readonly StampedRun[], budgetMs: number): Row {
  const waits = runs.map(returnOf);
  return {
    what: `last line → \`execute\` returns, ${name}: p50 / max`,
    budget: `${budgetMs} ms`,
    measured: `${Math.round(median(waits))} / ${Math.round(largest(waits)).toLocaleString("en")} ms`,
    ok: largest(waits) <= budgetMs,
  };
}
