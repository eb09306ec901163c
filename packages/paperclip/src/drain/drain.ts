import type { StatusReader } from "../cancel.ts";

/** A server that is not stopped after all takes runs again by itself. */
const LASTS_MS = 10 * 60_000;
const BLIND_MS = 1000;
const LOOK_MS = 100;

/** A run that one adapter executes in this process. */
export interface Attendee {
  readonly runId: string;
  /** Whether its host goes on by itself with a run that was left. */
  readonly detachable: boolean;
  /** What the host says of the run; null = it cannot be asked. */
  readonly status: StatusReader | null;
}

export interface Visit {
  /** Aborted = leave the Job as it is and return. */
  readonly detach: AbortSignal;
  leave(): void;
}

export interface DrainReport {
  /** Left while their Jobs go on, or sent away before they had one; the host has it in writing. */
  readonly detached: readonly string[];
  /** Still here: their host knows no other way than to be stopped, or they did not leave in time. */
  readonly staying: readonly string[];
}

/** Which runs are here, and the request to leave. */
export class Drain {
  readonly #here = new Map<Attendee, { readonly controller: AbortController; readonly left: Promise<void> }>();
  #until = 0;

  get active(): boolean {
    return Date.now() < this.#until;
  }

  get runs(): readonly string[] {
    return [...this.#here.keys()].map(({ runId }) => runId);
  }

  enter(attendee: Attendee): Visit {
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#here.set(attendee, { controller, left: promise });
    return {
      detach: controller.signal,
      leave: () => {
        this.#here.delete(attendee);
        resolve();
      },
    };
  }

  /** Asks everybody to leave who can, and waits until the host has recorded it: what is not recorded when the server stops never was. */
  async begin(reason: string, patienceMs: number): Promise<DrainReport> {
    this.#until = Date.now() + LASTS_MS;
    const deadline = Date.now() + patienceMs;
    const leaving = [...this.#here].filter(([{ detachable }]) => detachable);
    for (const [, { controller }] of leaving) controller.abort(new Error(reason));
    const detached = await Promise.all(
      leaving.map(async ([attendee, { left }]) => {
        const gone = await within(left, deadline - Date.now());
        return gone && (await recorded(attendee, deadline)) ? [attendee.runId] : [];
      }),
    );
    const done = new Set(detached.flat());
    const asked = leaving.map(([{ runId }]) => runId);
    return { detached: [...done], staying: [...new Set([...asked, ...this.runs])].filter((id) => !done.has(id)) };
  }

  /** Resolves when runs may begin. */
  async over(): Promise<void> {
    while (this.active) await new Promise((resolve) => void setTimeout(resolve, LOOK_MS).unref());
  }

  /** The server stays after all. */
  end(): void {
    this.#until = 0;
  }
}

/** True when the host has taken the result. One that cannot be asked is given a moment and believed. */
async function recorded({ status }: Attendee, deadline: number): Promise<boolean> {
  if (status === null) return pause(BLIND_MS).then(() => true);
  for (;;) {
    const answer = await status();
    if ("status" in answer && answer.status !== "running") return true;
    if (Date.now() >= deadline) return false;
    await pause(LOOK_MS);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

async function within(event: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms));
  });
  return Promise.race([event.then(() => true), late]).finally(() => clearTimeout(timer));
}
