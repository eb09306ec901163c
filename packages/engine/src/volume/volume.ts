import type { RunFiles } from "@paperclip-k8s/runner";
import { checkedPath, checkedRoot } from "./paths.ts";
import type { FileOwner, FromReader } from "./protocol.ts";
import { ReaderChild } from "./reader-child.ts";
import { type AskOptions, Questions } from "./requests.ts";
import { FollowingTail, type Tail, type TailOptions } from "./tail.ts";
import { VolumeError } from "./volume-error.ts";

export type { FileOwner } from "./protocol.ts";
export type { Tail, TailOptions } from "./tail.ts";
export { VolumeError, type VolumeErrorCode } from "./volume-error.ts";

export interface VolumeOptions {
  /** No sign of life from the reader for this long counts as a stall: 5 s. */
  readonly stallAfterMs?: number;
  /** How long the reader outlives its last holder: 30 s. */
  readonly lingerMs?: number;
  readonly clock?: () => number;
}

/** The shared volume below one mount root. Nothing here touches it from the server's own process. */
export interface Volume {
  /** Makes the output and meta files and the folders, where absent, writable for the pod's user. What is in them stays. */
  prepare(files: RunFiles, owner: FileOwner | null, folders?: readonly string[]): Promise<void>;
  /** Follows a file from an offset, whether or not it is there yet. */
  tail(path: string, options: TailOptions): Tail;
  /** Files that are not there are fine. */
  remove(paths: readonly string[]): Promise<void>;
  /** This holder is done; its tails are closed. */
  release(): void;
}

const shared = new Map<string, SharedVolume>();

/** One reader process per mount root serves all holders. The options of the first holder count. */
export function openVolume(root: string, options: VolumeOptions = {}): Volume {
  const path = checkedRoot(root);
  const volume = shared.get(path) ?? new SharedVolume(path, options);
  shared.set(path, volume);
  return volume.hold();
}

/** For diagnosis: the process that reads below this root, if there is one now. */
export function readerPid(root: string): number | null {
  return shared.get(checkedRoot(root))?.pid ?? null;
}

class SharedVolume {
  readonly #root: string;
  readonly #lingerMs: number;
  readonly #stallAfterMs: number;
  readonly #reader: ReaderChild;
  readonly #questions: Questions;
  readonly #tails = new Map<number, FollowingTail>();
  #holders = 0;
  #lastId = 0;
  #linger: NodeJS.Timeout | undefined;

  constructor(root: string, options: VolumeOptions) {
    this.#root = root;
    this.#lingerMs = options.lingerMs ?? 30_000;
    this.#stallAfterMs = options.stallAfterMs ?? 5_000;
    const readerOptions = { stallAfterMs: this.#stallAfterMs, clock: options.clock ?? (() => performance.now()) };
    this.#reader = new ReaderChild(root, readerOptions, {
      started: () => this.#begin(),
      message: (message) => this.#receive(message),
      stalled: (silentMs) => this.#stall(`the shared volume at ${root} has not answered for ${Math.round(silentMs / 1000)} s`),
      back: () => this.#each((tail) => tail.setStalled(null)),
    });
    this.#questions = new Questions(
      (message) => this.#reader.send(message),
      (awaited) => this.#reader.setAwaited(awaited),
    );
  }

  get pid(): number | null {
    return this.#reader.pid;
  }

  hold(): Volume {
    this.#holders++;
    clearTimeout(this.#linger);
    const own = new Set<Tail>();
    let released = false;
    const check = (): void => {
      if (released) throw new VolumeError("volume_failed", this.#root, `used after release: ${this.#root}`);
    };
    return {
      prepare: async (files, owner, folders = []) => {
        check();
        const paths = [files.output, files.meta].map((path) => checkedPath(this.#root, path));
        await this.#ask({ type: "prepare", paths, folders: folders.map((path) => checkedPath(this.#root, path)), owner });
      },
      remove: async (paths) => {
        check();
        await this.#ask({ type: "remove", paths: paths.map((path) => checkedPath(this.#root, path)) });
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
        this.#letGo();
      },
    };
  }

  async #ask(question: Parameters<Questions["ask"]>[0] & { readonly paths: readonly string[] }): Promise<void> {
    this.#reader.start();
    // A volume that is slow but alive is waited for.
    const patience: AskOptions = {
      path: question.paths[0] ?? this.#root,
      timeoutMs: this.#stallAfterMs,
      goesOn: () => !this.#reader.stalled,
    };
    await this.#questions.ask(question, patience);
  }

  #follow(path: string, options: TailOptions, closed: () => void): Tail {
    this.#reader.start();
    const id = ++this.#lastId;
    const tail = new FollowingTail(options, {
      id,
      path,
      send: (message) => this.#reader.send(message),
      questions: this.#questions,
      closed: () => {
        this.#tails.delete(id);
        closed();
      },
    });
    this.#tails.set(id, tail);
    tail.open();
    if (this.#reader.stalled) tail.setStalled(`the shared volume at ${this.#root} does not answer`);
    return tail;
  }

  #begin(): void {
    this.#each((tail) => tail.open());
    this.#questions.repeat();
  }

  #receive(message: FromReader): void {
    if (message.type === "bytes") this.#tails.get(message.id)?.receive(message.offset, message.bytes);
    else if (message.type === "trouble") this.#tails.get(message.id)?.setTroubled(message.fault);
    else if (message.type === "well") this.#tails.get(message.id)?.setTroubled(null);
    else if (message.type !== "alive") this.#questions.answer(message);
  }

  #stall(error: string): void {
    this.#questions.giveUp();
    this.#each((tail) => tail.setStalled(error));
  }

  #each(act: (tail: FollowingTail) => void): void {
    for (const tail of [...this.#tails.values()]) act(tail);
  }

  #letGo(): void {
    this.#holders--;
    if (this.#holders > 0) return;
    this.#linger = setTimeout(() => {
      shared.delete(this.#root);
      this.#reader.stop();
      this.#questions.giveUp();
    }, this.#lingerMs).unref();
  }
}
