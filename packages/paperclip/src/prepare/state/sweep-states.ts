import { lstat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type SweepRule, type Swept, sweepFolder } from "../sweep/sweep-folder.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** However many tasks there are: what a run may have restored and not saved again yet. */
const IN_USE_MS = 2 * DAY;
const REMOVING = ".removing-";

export interface Retention {
  readonly days: number;
  /** Of more tasks than this, those that were not used for longest go. */
  readonly tasks: number;
  /** How long a run may take. */
  readonly runSec: number;
}

export interface StatePlace {
  readonly root: string;
  /** The saved session of the task at hand, among those of the agent's other tasks: it stays. */
  readonly own: string;
}

/** Removes saved sessions of one agent that nobody needs any more. */
export function sweepStates({ root, own }: StatePlace, keep: Retention, now: number = Date.now()): Promise<Swept> {
  return sweepFolder({ root, folder: dirname(own) }, { ...ruleFor(keep), except: basename(own) }, now);
}

const ruleFor = (keep: Retention): SweepRule => ({
  aside: REMOVING,
  usedUntil,
  keptMs: (name, rank) => (name.startsWith(REMOVING) ? DAY : rank >= keep.tasks ? youngest(keep) : keptFor(keep)),
});

const youngest = ({ runSec }: Retention): number => Math.max(IN_USE_MS, runSec * 1000 + HOUR);
const keptFor = (keep: Retention): number => Math.max(keep.days * DAY, youngest(keep));

/** The runner touches its pointer when it restores, and replaces it when it saves. */
async function usedUntil(folder: string): Promise<number> {
  const pointer = await lstat(`${folder}/current`).catch(() => null);
  return (pointer ?? (await lstat(folder))).mtimeMs;
}
