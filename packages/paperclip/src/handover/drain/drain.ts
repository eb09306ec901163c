import type { StatusReader } from "../../observe/cancel.ts";
import type { LastWordReader } from "./last-word.ts";

/** A server that is not stopped after all takes runs again by itself. */
const LASTS_MS = 10 * 60_000;
/** As what a run ends that was let go. */
const DETACHED = "k8s_detached";
const BLIND_MS = 1000;
const LOOK_MS = 250;
/** So many at once: the host has work with each, and one it has not finished with when it stops is worse off than one that was not asked. */
const AT_ONCE = 4;
const TURNED_AWAY_MS = 10_000;
/** What a host notes first need not be its last word on how a run ended. */
const SETTLES_MS = 3000;

/** A run that one adapter executes in this process. */
export interface Attendee {
  readonly runId: string;
  /** Whether its host goes on by itself with a run that was left. */
  readonly detachable: boolean;
  /** What the host says of the run; null = it cannot be asked. */
  readonly status: StatusReader | null;
  /** Whether the host has finished with it after its end; null = it cannot be asked. */
  readonly lastWord?: LastWordReader | null;
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
  readonly #turnedAway = new Set<Attendee>();
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

  /** A run that comes while the others leave: nothing of it is begun, but the host has work with it too. */
  turnAway(attendee: Attendee): void {
    this.#turnedAway.add(attendee);
  }

  /** Asks everybody to leave who can, and waits until the host has finished with them: what is not done when the server stops never is. */
  async begin(reason: string, patienceMs: number): Promise<DrainReport> {
    this.#until = Date.now() + LASTS_MS;
    this.#turnedAway.clear();
    const [begun, deadline] = [Date.now(), Date.now() + patienceMs];
    const leaving = [...this.#here].filter(([{ detachable }]) => detachable);
    const waiting = [...leaving];
    const done = new Set<string>();
    const seeOff = async () => {
      for (;;) {
        const next = Date.now() - begun <= patienceMs / 2 ? waiting.shift() : undefined;
        if (next === undefined) return;
        const [attendee, { controller, left }] = next;
        controller.abort(new Error(reason));
        if ((await within(left, deadline - Date.now())) && (await recorded(attendee, deadline))) done.add(attendee.runId);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, seeOff));
    // A drain that takes long meets the retries of its own runs: they must not make it last.
    const last = Math.min(deadline, Date.now() + TURNED_AWAY_MS);
    for (const attendee of this.#turnedAway) if (await recorded(attendee, last)) done.add(attendee.runId);
    const asked = [...leaving.map(([{ runId }]) => runId), ...[...this.#turnedAway].map(({ runId }) => runId)];
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

/** True when the host has taken the result, not failed at it, and finished with the run. One that cannot be asked is given a moment and believed. */
async function recorded({ status, lastWord = null }: Attendee, deadline: number): Promise<boolean> {
  if (status === null) return pause(BLIND_MS).then(() => true);
  for (let refusedAt: number | null = null; ; ) {
    const answer = await status();
    if ("status" in answer && answer.status !== "running") {
      const taken = answer.status !== "failed" || answer.errorCode === DETACHED;
      if (taken) return lastWord === null || said(lastWord, deadline);
      refusedAt ??= Date.now();
      if (Date.now() - refusedAt >= SETTLES_MS) return false;
    }
    if (Date.now() >= deadline) return false;
    await pause(LOOK_MS);
  }
}

async function said(lastWord: LastWordReader, deadline: number): Promise<boolean> {
  for (;;) {
    if (await lastWord()) return true;
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
