import { readWakeUp, wakeUpId } from "@paperclip-k8s/runner/wake-up";
import type { WakeUpSource } from "../../protocol.ts";
import { Announcements } from "./announcements.ts";
import { RunTrust, type Way } from "./run-trust.ts";

/** A file that wake-ups can tell of. */
export interface WokenFile {
  readonly id: number;
  /** The file is said to have this many bytes. Returns when to poll it for that; null = there is no need to. */
  wake(size: number, now: number): number | null;
  /** Wake-ups do not tell of it any more: the next poll comes when it would have come without them. */
  pollAsUsual(now: number): void;
}

/** What polls the files. */
interface Loop<F> {
  pollAt(file: F, at: number): void;
  reschedule(): void;
}

interface FollowedRun<F> {
  readonly trust: RunTrust;
  readonly files: Map<number, { readonly file: F; readonly id: string }>;
}

/** The runs whose files are followed, by the tokens of their wake-ups. */
export class FollowedRuns<F extends WokenFile> {
  readonly #runs = new Map<string, FollowedRun<F>>();
  readonly #files = new Map<string, F[]>();
  readonly #loop: Loop<F>;
  readonly #way: Way = { inRow: 0 };

  constructor(loop: Loop<F>) {
    this.#loop = loop;
  }

  get size(): number {
    return this.#runs.size;
  }

  /** What the run's wake-ups say of one of its files; `create` makes that file. */
  follow(source: WakeUpSource | undefined, create: (announcements: Announcements | null) => F): F {
    if (source === undefined) return create(null);
    const token = Buffer.from(source.token);
    const key = token.toString("latin1");
    const run = this.#runs.get(key) ?? this.#newRun(key);
    const file = create(new Announcements(run.trust));
    const id = wakeUpId(token, source.kind);
    run.files.set(file.id, { file, id });
    this.#files.set(id, [...(this.#files.get(id) ?? []), file]);
    return file;
  }

  forget(fileId: number): void {
    for (const [key, { files }] of this.#runs) {
      const found = files.get(fileId);
      if (found === undefined) continue;
      const others = (this.#files.get(found.id) ?? []).filter(({ id }) => id !== fileId);
      if (others.length > 0) this.#files.set(found.id, others);
      else this.#files.delete(found.id);
      files.delete(fileId);
      if (files.size === 0) this.#runs.delete(key);
      return;
    }
  }

  /** False = it is of no run that is followed here. */
  receive(datagram: Buffer, now: number): boolean {
    const wakeUp = readWakeUp(datagram);
    const files = wakeUp === null ? undefined : this.#files.get(wakeUp.id);
    if (wakeUp === null || files === undefined) return false;
    for (const file of files) {
      const at = file.wake(wakeUp.size, now);
      if (at !== null) this.#loop.pollAt(file, at);
    }
    return true;
  }

  /** No wake-up can arrive for a while. */
  expectNone(): void {
    this.#way.inRow = 0;
    for (const { trust } of this.#runs.values()) trust.lose();
  }

  #newRun(key: string): FollowedRun<F> {
    const run: FollowedRun<F> = { trust: new RunTrust(this.#way), files: new Map() };
    run.trust.onLost = () => {
      const now = performance.now();
      for (const { file } of run.files.values()) file.pollAsUsual(now);
      this.#loop.reschedule();
    };
    this.#runs.set(key, run);
    return run;
  }
}
