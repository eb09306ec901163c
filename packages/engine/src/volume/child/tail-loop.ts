/** Between two polls of a file: short while output flows, then in proportion to its silence. */
const shortestMs = 20;
const longestMs = 250;
const shareOfSilence = 0.05;
/** A file that has never grown is polled more often: its first line is due when the pod has started, some seconds later. */
const shareOfStart = 0.005;
/** A file due this soon is polled now, so that active files share a sweep. */
const slackMs = 10;
/** After this long the loop lets messages in. */
const sliceMs = 20;
/** A sweep is followed by a rest of this many times its own cost, so that it takes a third of a core at most. */
const pauseShare = 2;
const longestPauseMs = 1_000;
/** Polls that were asked for one by one may cost this much together before the loop rests. */
const unrestedMs = 1;

let workBegan = 0;

/** Longer work on files calls this between two of them, so that tails and messages never wait for it much longer than a slice. */
export async function pause(): Promise<void> {
  if (performance.now() - workBegan < sliceMs) return;
  await new Promise((resolve) => setImmediate(resolve));
  workBegan = performance.now();
}

export function pollInterval(silenceMs: number, hasGrown: boolean): number {
  return Math.min(longestMs, Math.max(shortestMs, silenceMs * (hasGrown ? shareOfSilence : shareOfStart)));
}

export function pauseAfter(costMs: number): number {
  return Math.min(longestPauseMs, costMs * pauseShare);
}

export interface Followed {
  readonly id: number;
  due: number;
  poll(now: number): void;
}

interface TailLoopOptions {
  /** False while nothing can be sent: the sweep waits for `resume`. */
  readonly ready: () => boolean;
  readonly clock?: () => number;
}

/** One loop over all files of a volume: a sweep polls those that are due. */
export class TailLoop<F extends Followed> {
  readonly files = new Map<number, F>();
  readonly #ready: () => boolean;
  readonly #clock: () => number;
  #sweep: { readonly began: number; readonly files: Iterator<F>; cost: number; waiting: boolean } | null = null;
  #notBefore = 0;
  /** What such polls have cost since the last rest. */
  #unrested = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(options: TailLoopOptions) {
    this.#ready = options.ready;
    this.#clock = options.clock ?? (() => performance.now());
  }

  add(file: F): void {
    this.files.set(file.id, file);
    this.reschedule();
  }

  remove(id: number): void {
    this.files.delete(id);
  }

  /** A file's `due` was moved forward. */
  reschedule(): void {
    if (this.#sweep === null) this.#schedule();
  }

  /** A file has something to read: it is polled at that time, and if that is now without a timer, unless the loop is busy or has to rest. */
  pollAt(file: F, at: number): void {
    const began = this.#clock();
    if (at <= began && this.#sweep === null && began >= this.#notBefore && this.#ready()) {
      file.poll(began);
      const now = this.#clock();
      this.#unrested += now - began;
      if (this.#unrested > unrestedMs) this.#restAfter(this.#unrested, now);
    } else file.due = Math.min(file.due, at);
    if (this.#sweep === null && file.due < this.#timerAt) this.#wakeAt(file.due);
  }

  /** What was full has room again. */
  resume(): void {
    if (!this.#sweep?.waiting) return;
    this.#sweep.waiting = false;
    setImmediate(this.#slice);
  }

  #schedule(): void {
    let due = Number.POSITIVE_INFINITY;
    for (const file of this.files.values()) due = Math.min(due, file.due);
    this.#wakeAt(due);
  }

  #wakeAt(due: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = due;
    if (due === Number.POSITIVE_INFINITY) return;
    const wait = Math.max(due, this.#notBefore) - this.#clock();
    this.#timer = setTimeout(this.#begin, Math.max(0, wait));
  }

  readonly #begin = (): void => {
    this.#sweep = { began: this.#clock(), files: this.files.values(), cost: 0, waiting: false };
    this.#slice();
  };

  readonly #slice = (): void => {
    const sweep = this.#sweep;
    if (sweep === null) return;
    const began = this.#clock();
    for (let next = sweep.files.next(); !next.done; next = sweep.files.next()) {
      const file = next.value;
      if (file.due > sweep.began + slackMs) continue;
      file.poll(this.#clock());
      const took = this.#clock() - began;
      sweep.waiting = !this.#ready();
      if (!sweep.waiting && took < sliceMs) continue;
      sweep.cost += took;
      if (!sweep.waiting) setImmediate(this.#slice);
      return;
    }
    this.#sweep = null;
    const now = this.#clock();
    this.#restAfter(sweep.cost + now - began, now);
    this.#schedule();
  };

  #restAfter(cost: number, now: number): void {
    this.#notBefore = now + pauseAfter(cost);
    this.#unrested = 0;
  }
}
