import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "@paperclip-k8s/pocket";
import type { Bed } from "./bed.ts";
import type { BedFaults, Trouble } from "./bed-faults.ts";
import type { RunHandle } from "./run.ts";

/** What a test has under way, to be ended when it failed in the middle: its second attempt begins on the same ground as the first. */
const underway = new WeakMap<Bed["faults"], Underway>();

interface Underway {
  readonly troubles: Set<() => unknown>;
  readonly runs: Set<RunHandle>;
}

/** Cancelled runs end within their grace; what does not is left to the bed's own end. */
const PATIENCE_MS = 15_000;

/** For `afterEach`: undoes every fault and ends every run that is left. Costs nothing where nothing is. */
export async function calm({ faults }: Pick<Bed, "faults">): Promise<void> {
  const { troubles, runs } = underwayOf(faults);
  for (const undo of [...troubles].reverse()) await undo();
  troubles.clear();
  for (const run of runs) run.cancel("the test is over");
  await Promise.race([Promise.allSettled([...runs].map((run) => run.done)), sleep(PATIENCE_MS, undefined, { ref: false })]);
  runs.clear();
}

/** A bed in another process has no faults, and nobody to calm it. */
export function noteRun(faults: Bed["faults"] | undefined, run: RunHandle): void {
  if (faults === undefined) return;
  const { runs } = underwayOf(faults);
  runs.add(run);
  const forget = () => void runs.delete(run);
  run.done.then(forget, forget);
}

function underwayOf(faults: Bed["faults"]): Underway {
  const known = underway.get(faults) ?? { troubles: new Set(), runs: new Set() };
  underway.set(faults, known);
  return known;
}

/** The same faults, remembered until they are undone. */
export function remembered(made: BedFaults): BedFaults {
  const wire = (fault: Fault): Fault => {
    underwayOf(faults).troubles.add(() => fault.undo());
    return fault;
  };
  const lasting = async (making: Promise<Trouble>): Promise<Trouble> => {
    const { undo } = await making;
    const { troubles } = underwayOf(faults);
    const undoOnce = async () => {
      if (troubles.delete(undoOnce)) await undo();
    };
    troubles.add(undoOnce);
    return { undo: undoOnce };
  };
  const faults: BedFaults = {
    ...made,
    fail: (match, options) => wire(made.fail(match, options)),
    hang: (match, options) => wire(made.hang(match, options)),
    delay: (match, ms, options) => wire(made.delay(match, ms, options)),
    drop: (match, options) => wire(made.drop(match, options)),
    silenceWatches: () => wire(made.silenceWatches()),
    duplicateEvents: () => wire(made.duplicateEvents()),
    down: () => {
      underwayOf(faults).troubles.add(made.up);
      return made.down();
    },
    loseNode: (options) => lasting(made.loseNode(options)),
    unschedulable: () => lasting(made.unschedulable()),
    noPods: (why) => lasting(made.noPods(why)),
  };
  return faults;
}
