import { randomUUID } from "node:crypto";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { BUDGETS } from "../budgets.ts";
import { median, ms, type Row } from "../figures.ts";
import { type Host, startHost } from "../host.ts";
import { type HostApi, openHostApi } from "../host-api.ts";
import { stampedRuns, startOf } from "../lines.ts";
import { settled } from "../settle.ts";
import { ONE_LINE } from "../stamp.ts";

export interface Turns {
  readonly first: readonly number[];
  readonly next: readonly number[];
}

/** The next run of a task, called in the moment in which the first has returned: by the same adapter, by another one of the server, by another server. */
export async function measureNext(host: Host, bed: Bed, pairs: number): Promise<Row[]> {
  const other = startHost(bed);
  const api = await openHostApi();
  try {
    await other.run(ONE_LINE);
    const rows: Row[] = [];
    let instance = 0;
    const sides = [
      { name: "", next: () => ({ host, instance: 0 }) },
      { name: " by another adapter instance of the server", next: () => ({ host, instance: ++instance }) },
      { name: " by another server", next: () => ({ host: other, instance: 0 }) },
    ];
    for (const { name, next } of sides) rows.push(row(name, pairs, await turnsOf(host, pairs, next, api, () => settled(bed))));
    return rows;
  } finally {
    await settled(bed);
    other.stop();
    api.close();
  }
}

interface Next {
  readonly host: Pick<Host, "run">;
  readonly instance: number;
}

/** Milliseconds from the call to the CLI's first act, of first and next runs. `api`: the host's, which has each run's end on record as soon as it has returned. */
export async function turnsOf(
  host: Pick<Host, "run">,
  pairs: number,
  next: () => Next,
  api: HostApi,
  settle: () => Promise<unknown>,
): Promise<Turns> {
  const first: number[] = [];
  const second: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    await settle();
    const runId = `bench-${randomUUID()}`;
    const task = { agent: randomUUID(), taskKey: "bench-task", hostPort: api.port };
    const after = next();
    api.started(runId);
    const before = await host.run(ONE_LINE, { ...task, runId });
    api.ended(runId);
    const again = await after.host.run(ONE_LINE, { ...task, instance: after.instance });
    const [one, two] = stampedRuns([before, again]).map(startOf);
    first.push(one!);
    second.push(two!);
  }
  return { first, next: second };
}

function row(name: string, pairs: number, { first, next }: Turns): Row {
  const more = median(next) - median(first);
  return {
    what: `next run of the same task${name}, over the first: medians of ${pairs}`,
    budget: `${BUDGETS.next} ms more`,
    measured: `${ms(more)} more (${ms(median(next))} against ${ms(median(first))})`,
    ok: more <= BUDGETS.next,
  };
}
