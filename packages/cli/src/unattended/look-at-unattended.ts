import { messageOf } from "@paperclip-k8s/engine";
import type { HostApi } from "@paperclip-k8s/paperclip/host-api";
import type { Place } from "../arguments/values.ts";
import type { FoundJob } from "../cluster/jobs.ts";
import type { ListedRun } from "../recovery/find/listed-runs.ts";
import type { Row } from "./listing.ts";
import { hasJob, lostForGood, withLostResults } from "./lost-runs.ts";
import { type Looking, readUnattended, type Unattended } from "./read-unattended.ts";
import { readMark, reportCost } from "./report-cost.ts";

interface Around extends Place {
  readonly jobs: readonly Pick<FoundJob, "runIds" | "state">[];
  readonly secret: Uint8Array | null;
  /** Whether the host learns what they cost. */
  readonly isReporting: boolean;
  readonly memory: Memory;
}

/** What need not be asked for again in the next round. */
export class Memory {
  /** Their files do not change any more, and may be large. */
  readonly read: Map<string, Unattended> = new Map();
  /** Runs whose results the host has stored, though their errors do not look like it. */
  readonly stored: Set<string> = new Set();
}

/** Runs that nobody goes on with: what became of them, and what they cost is reported once. What goes wrong with one of them stops no other. */
export async function lookAtUnattended(host: HostApi, runs: readonly ListedRun[], around: Around): Promise<Row[]> {
  const { jobs, memory } = around;
  const looking: Looking = { ...around, folders: new Map() };
  const rows: Row[] = [];
  // One after the other: a slow volume is not to be taken for one that hangs.
  for (const run of lostForGood(await withLostResults(host, runs, memory.stored), jobs)) {
    const row = await lookAt(host, run, { ...around, looking });
    if (row !== null) rows.push(row);
  }
  return rows;
}

/** Null = it is not one of those that nobody else will report. */
async function lookAt(host: HostApi, run: ListedRun, around: Around & { readonly looking: Looking }): Promise<Row | null> {
  const { jobs, memory, isReporting, looking } = around;
  let one: Unattended | null = null;
  try {
    one = memory.read.get(run.id) ?? (await readUnattended(host, run, looking));
    if (one === null) return null;
    memory.read.set(run.id, one);
    const cost = isReporting ? await reportCost(host, one, hasJob(run, jobs)) : await readMark(one.mark);
    return { run, one, cost, problem: null };
  } catch (error) {
    return { run, one, cost: null, problem: messageOf(error) };
  }
}
