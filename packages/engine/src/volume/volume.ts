import type { RunFiles } from "@paperclip-k8s/runner";
import type { WakeUpAddress } from "@paperclip-k8s/runner/wake-up";
import { ListeningAddresses } from "./listening.ts";
import { checkedPath, checkedRoot } from "./paths.ts";
import type { FileOwner, FromVolume, ListenOptions, Of, OperationName, Operations, Prepared } from "./protocol.ts";
import { PendingRequests } from "./requests.ts";
import { FollowingTail, type Tail, type TailOptions } from "./tail.ts";
import { VolumeError } from "./volume-error.ts";
import { VolumeProcess } from "./volume-process.ts";

export type { FileOwner } from "./protocol.ts";
export type { Tail, TailOptions } from "./tail.ts";
export { VolumeError, type VolumeErrorCode } from "./volume-error.ts";

export interface VolumeOptions {
  /** No sign of life from the volume's process for this long counts as a stall: 5 s. */
  readonly stallAfterMs?: number;
  /** How long the process outlives its last user: 30 s. */
  readonly lingerMs?: number;
  readonly clock?: () => number;
}

/** The files below one root. Nothing here touches them from the server's own process. */
export interface Volume {
  /** Creates the output and meta files and the folders, where absent, writable for the pod's user. Their content stays; `note` is written anew. */
  prepare(files: RunFiles, owner: FileOwner | null, folders?: readonly string[], note?: Prepared["note"]): Promise<void>;
  /** Follows a file from an offset, whether or not it is there yet. */
  tail(path: string, options: TailOptions): Tail;
  /** Files, and folders with what is in them. Missing ones are fine. */
  remove(paths: readonly string[]): Promise<void>;
  /** Rejects with `volume_stalled` when the volume does not answer, or after `timeoutMs` in any case. */
  run<N extends OperationName>(name: N, of: Of<N>, timeoutMs: number): Promise<ReturnType<Operations[N]>>;
  /** Where the volume's process takes wake-ups, from now on and for all users; null = at none of these addresses. */
  listen(options: ListenOptions): Promise<WakeUpAddress | null>;
  /** This user is done; its tails are closed. */
  release(): void;
}

/** Without an answer by then a run goes without wake-ups to its end. The process has just made the run's files, so the answer comes at once unless the machine is busy. */
const LISTEN_TIMEOUT_MS = 3_000;

const shared = new Map<string, SharedVolume>();

/** One process per root serves all users. The options of the first user count. */
export function openVolume(root: string, options: VolumeOptions = {}): Volume {
  const path = checkedRoot(root);
  const volume = shared.get(path) ?? new SharedVolume(path, options);
  shared.set(path, volume);
  return volume.use();
}

/** Opens a volume for one piece of work. */
export async function withVolume<T>(root: string, work: (volume: Volume) => Promise<T>): Promise<T> {
  const volume = openVolume(root);
  try {
    return await work(volume);
  } finally {
    volume.release();
  }
}

/** For diagnosis: the process of this root, if there is one now. */
export function volumePid(root: string): number | null {
  return shared.get(checkedRoot(root))?.pid ?? null;
}

class SharedVolume {
  readonly #root: string;
  readonly #options: Required<VolumeOptions>;
  readonly #process: VolumeProcess;
  readonly #requests: PendingRequests;
  readonly #tails = new Map<number, FollowingTail>();
  readonly #listening = new ListeningAddresses((of) => this.#run("listen", of, this.#root, LISTEN_TIMEOUT_MS) as Promise<WakeUpAddress>);
  #full = false;
  #users = 0;
  #lastId = 0;
  #linger: NodeJS.Timeout | undefined;

  constructor(root: string, options: VolumeOptions) {
    this.#root = root;
    this.#options = { lingerMs: 30_000, stallAfterMs: 5_000, clock: () => performance.now(), ...options };
    this.#process = new VolumeProcess(root, this.#options, {
      started: () => this.#begin(),
      message: (message) => this.#receive(message),
      stalled: (silentMs) => this.#stall(`the volume at ${root} has not answered for ${Math.round(silentMs / 1000)} s`),
      back: () => this.#each((tail) => tail.setStalled(null)),
    });
    this.#requests = new PendingRequests(
      root,
      (message) => this.#process.send(message),
      (awaited) => this.#process.setAwaited(awaited),
    );
  }

  get pid(): number | null {
    return this.#process.pid;
  }

  use(): Volume {
    this.#users++;
    clearTimeout(this.#linger);
    const own = new Set<Tail>();
    let released = false;
    const check = (): void => {
      if (released) throw new VolumeError("volume_failed", this.#root, `used after release: ${this.#root}`);
    };
    return {
      prepare: async (files, owner, folders = [], note) => {
        check();
        const paths = [files.output, files.meta].map((path) => checkedPath(this.#root, path));
        const of: Prepared = {
          paths,
          folders: folders.map((path) => checkedPath(this.#root, path)),
          owner,
          ...(note && { note: { ...note, path: checkedPath(this.#root, note.path) } }),
        };
        await this.#run("prepare", of, files.output, Number.POSITIVE_INFINITY);
      },
      remove: async (paths) => {
        check();
        const of = { paths: paths.map((path) => checkedPath(this.#root, path)) };
        await this.#run("remove", of, of.paths[0] ?? this.#root, Number.POSITIVE_INFINITY);
      },
      run: async (name, of, timeoutMs) => {
        check();
        return (await this.#run(name, of, this.#root, timeoutMs)) as never;
      },
      listen: async (options) => {
        check();
        return this.#listening.at(options);
      },
      tail: (path, options) => {
        check();
        const tail = this.#follow(checkedPath(this.#root, path), options, () => own.delete(tail));
        own.add(tail);
        return tail;
      },
      release: () => {
        if (released) return;
        released = true;
        for (const tail of own) tail.close();
        this.#release();
      },
    };
  }

  async #run(name: OperationName, of: unknown, path: string, timeoutMs: number): Promise<unknown> {
    this.#process.start();
    const { clock } = this.#options;
    const end = clock() + timeoutMs;
    // A volume that is slow but alive is waited for.
    const goesOn = (): boolean => !this.#process.stalled && clock() < end;
    return this.#requests.ask(
      { type: "operation", name, of },
      { path, intervalMs: Math.min(this.#options.stallAfterMs, timeoutMs), goesOn },
    );
  }

  #follow(path: string, options: TailOptions, closed: () => void): Tail {
    this.#process.start();
    const id = ++this.#lastId;
    const tail = new FollowingTail(options, {
      id,
      path,
      send: (message) => this.#process.send(message),
      requests: this.#requests,
      closed: () => {
        this.#tails.delete(id);
        closed();
      },
    });
    this.#tails.set(id, tail);
    tail.open();
    if (this.#process.stalled) tail.setStalled(`the volume at ${this.#root} does not answer`);
    if (this.#full) tail.setFull(true);
    return tail;
  }

  #begin(): void {
    // A new process says it again.
    if (this.#full) this.#setFull(false);
    this.#each((tail) => tail.open());
    this.#requests.repeat();
    this.#listening.repeat();
  }

  #receive(message: FromVolume): void {
    if (message.type === "bytes") this.#tails.get(message.id)?.receive(message.offset, message.bytes);
    else if (message.type === "unreadable") this.#tails.get(message.id)?.setUnreadable(message.fault);
    else if (message.type === "room") this.#setFull(message.full);
    else if (message.type === "readable") this.#tails.get(message.id)?.setUnreadable(null);
    else if (message.type !== "alive") this.#requests.answer(message);
  }

  #setFull(full: boolean): void {
    this.#full = full;
    this.#each((tail) => tail.setFull(full));
  }

  #stall(error: string): void {
    this.#requests.giveUp();
    this.#each((tail) => tail.setStalled(error));
    // Tails go on in the same process once the volume is back; without any, a new process may find the way free.
    if (this.#tails.size === 0) this.#process.kill();
  }

  #each(change: (tail: FollowingTail) => void): void {
    for (const tail of [...this.#tails.values()]) change(tail);
  }

  #release(): void {
    this.#users--;
    if (this.#users > 0) return;
    this.#linger = setTimeout(() => {
      shared.delete(this.#root);
      this.#process.stop();
      this.#requests.giveUp();
    }, this.#options.lingerMs).unref();
  }
}
