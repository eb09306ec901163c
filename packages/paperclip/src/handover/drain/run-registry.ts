import { deferred } from "@paperclip-k8s/engine";
import { byDeadline, type HostRecord, isRecorded } from "./host-record.ts";

/** A server that is not stopped after all takes runs again by itself. */
const DRAIN_LASTS_MS = 10 * 60_000;
const LOOK_MS = 250;
/** Detached at once: the host has work with each run, and one that it has not finished with when it stops is worse off than one that was not asked. */
const AT_ONCE = 4;
/** The retries of detached runs may come while a long drain lasts, and must not prolong it. */
const REFUSED_MS = 10_000;

/** A run that one adapter executes in this process. */
export interface RegisteredRun {
  readonly runId: string;
  /** Whether its host continues a run that was detached. */
  readonly detachable: boolean;
  /** Null = the host cannot be asked. */
  readonly record: HostRecord | null;
}

export interface Registration {
  /** Aborted = leave the Job as it is and return. */
  readonly detach: AbortSignal;
  end(): void;
}

export interface DrainReport {
  /** Runs whose Jobs go on, and runs that were refused. The host has recorded both. */
  readonly detached: readonly string[];
  /** Runs that are still here: their host cannot continue them, or they did not end in time. */
  readonly staying: readonly string[];
}

/** Knows the runs of one adapter in this process and detaches them before the server stops. */
export class RunRegistry {
  readonly #runs = new Map<RegisteredRun, { readonly controller: AbortController; readonly ended: Promise<true> }>();
  readonly #refused = new Set<RegisteredRun>();
  #drainingUntil = 0;

  get isDraining(): boolean {
    return Date.now() < this.#drainingUntil;
  }

  get runs(): readonly string[] {
    return [...this.#runs.keys()].map(({ runId }) => runId);
  }

  register(run: RegisteredRun): Registration {
    const controller = new AbortController();
    const { promise, resolve } = deferred<true>();
    this.#runs.set(run, { controller, ended: promise });
    return {
      detach: controller.signal,
      end: () => {
        this.#runs.delete(run);
        resolve(true);
      },
    };
  }

  /** A run that comes during a drain: it is not started, but the host must record that too. */
  refuse(run: RegisteredRun): void {
    this.#refused.add(run);
  }

  /** Detaches every run that can be detached and waits until the host has finished with it: what is not done when the server stops never will be. */
  async drain(reason: string, timeoutMs: number): Promise<DrainReport> {
    const begun = Date.now();
    const deadline = begun + timeoutMs;
    this.#drainingUntil = begun + DRAIN_LASTS_MS;
    this.#refused.clear();
    const leaving = [...this.#runs].filter(([{ detachable }]) => detachable);
    const waiting = [...leaving];
    const done = new Set<string>();
    const detachOneByOne = async () => {
      for (;;) {
        // A run that is asked late could not be finished with in time.
        const next = Date.now() - begun <= timeoutMs / 2 ? waiting.shift() : undefined;
        if (next === undefined) return;
        const [{ runId, record }, { controller, ended }] = next;
        controller.abort(new Error(reason));
        if ((await byDeadline(ended, deadline)) && (await isRecorded(record, deadline))) done.add(runId);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, detachOneByOne));
    const last = Math.min(deadline, Date.now() + REFUSED_MS);
    let refused: readonly RegisteredRun[] = [];
    // More may be refused while the host is asked about the first ones.
    for (let asked = 0; asked < this.#refused.size; asked = refused.length) {
      refused = [...this.#refused];
      await Promise.all(refused.slice(asked).map(async ({ runId, record }) => (await isRecorded(record, last)) && done.add(runId)));
    }
    const asked = [...leaving.map(([run]) => run), ...refused].map(({ runId }) => runId);
    return { detached: [...done], staying: [...new Set([...asked, ...this.runs])].filter((id) => !done.has(id)) };
  }

  /** The server stays after all. */
  undoDrain(): void {
    this.#drainingUntil = 0;
  }

  /** Resolves when runs may start, or this one is not to start any more. */
  async whenOpen(cancelled: AbortSignal): Promise<void> {
    while (this.isDraining && !cancelled.aborted) await new Promise((resolve) => void setTimeout(resolve, LOOK_MS).unref());
  }
}
