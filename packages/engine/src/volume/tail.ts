import { chunkBytes, type Fault, type ToReader } from "./protocol.ts";
import type { AskOptions, Questions } from "./requests.ts";
import { VolumeError } from "./volume-error.ts";

export interface TailOptions {
  /** Where to begin; 0 unless told. */
  readonly offset?: number;
  /** Awaited before more is given. If a callback throws, the tail is over and `refresh` rejects with what was thrown. */
  readonly onBytes: (bytes: Buffer) => Promise<void> | void;
  /** The volume does not answer, or the file cannot be read. Output may still come. */
  readonly onStall?: (error: string) => void;
  readonly onBack?: () => void;
}

/** A file that is followed while it grows. */
export interface Tail {
  /** Position in the file up to which bytes were delivered and taken: `offset` and all bytes since. */
  readonly delivered: number;
  /** A fresh look, past every cache: resolves when all that it found was taken. Rejects with `volume_stalled` after `timeoutMs` without progress. */
  refresh(timeoutMs?: number): Promise<{ delivered: number; missingFile: boolean }>;
  /** The file is known to be complete up to `bytes`: NULs before that are data, not a hole. */
  expect(bytes: number): void;
  close(): void;
}

export interface TailLink {
  readonly id: number;
  readonly path: string;
  readonly send: (message: ToReader) => void;
  readonly questions: Questions;
  readonly closed: () => void;
}

/** The server's end of a tail: hands bytes to the consumer one piece at a time and tells the reader how far it has got. */
export class FollowingTail implements Tail {
  delivered: number;
  readonly #options: TailOptions;
  readonly #link: TailLink;
  readonly #queue: Buffer[] = [];
  readonly #waiters: { readonly upTo: number; readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  #received: number;
  #unacked = 0;
  #expected = 0;
  #busy = false;
  #over: Error | null = null;
  #stalled = false;
  #troubled = false;

  constructor(options: TailOptions, link: TailLink) {
    this.#options = options;
    this.#link = link;
    this.delivered = this.#received = options.offset ?? 0;
  }

  /** Tells a reader that knows nothing where to go on: after what has arrived here. */
  open(): void {
    const { id, path } = this.#link;
    this.#link.send({ type: "open", id, path, offset: this.#received, expected: this.#expected, troubled: this.#troubled });
    // The new reader does not know of bytes that wait here: they count against nothing.
    this.#unacked = this.delivered - this.#received;
  }

  receive(offset: number, bytes: Buffer): void {
    if (this.#over !== null || offset !== this.#received) return;
    this.#received += bytes.length;
    this.#queue.push(bytes);
    if (!this.#busy) void this.#pump();
  }

  async refresh(timeoutMs = 10_000): Promise<{ delivered: number; missingFile: boolean }> {
    if (this.#over !== null) throw this.#over;
    const { id, path, questions } = this.#link;
    const answer = await questions.ask({ type: "refresh", id }, this.#patience(path, timeoutMs));
    await this.#deliveredUpTo(answer?.offset ?? 0);
    return { delivered: this.delivered, missingFile: answer?.missing ?? false };
  }

  expect(bytes: number): void {
    if (bytes <= this.#expected) return;
    this.#expected = bytes;
    this.#link.send({ type: "expect", id: this.#link.id, bytes });
  }

  close(): void {
    this.#end(new VolumeError("volume_failed", this.#link.path, `no longer followed: ${this.#link.path}`));
  }

  /** The whole volume is silent, or speaks again. */
  setStalled(error: string | null): void {
    const before = this.#stalled || this.#troubled;
    this.#stalled = error !== null;
    this.#tell(before, error);
  }

  /** This one file cannot be read, or can be read again. */
  setTroubled(fault: Fault | null): void {
    const before = this.#stalled || this.#troubled;
    this.#troubled = fault !== null;
    this.#tell(before, fault?.message ?? null);
  }

  #tell(before: boolean, error: string | null): void {
    const after = this.#stalled || this.#troubled;
    if (before === after || this.#over !== null) return;
    try {
      if (after) this.#options.onStall?.(error ?? "");
      else this.#options.onBack?.();
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  // While bytes move, or the consumer holds them, the volume is not to blame.
  #patience(path: string, timeoutMs: number): AskOptions {
    let seen = this.#received;
    const goesOn = (): boolean => {
      const moved = this.#busy || this.#received > seen;
      seen = this.#received;
      return moved;
    };
    return { path, timeoutMs, goesOn };
  }

  async #pump(): Promise<void> {
    this.#busy = true;
    try {
      for (let bytes = this.#queue.shift(); bytes !== undefined; bytes = this.#queue.shift()) {
        const taken = this.#options.onBytes(bytes);
        if (taken !== undefined) await taken;
        if (this.#over !== null) return;
        this.#took(bytes.length);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#busy = false;
    }
  }

  // Acknowledged in steps: a consumer that keeps up costs the reader almost no messages.
  #took(bytes: number): void {
    this.delivered += bytes;
    this.#unacked += bytes;
    if (this.#unacked >= chunkBytes) {
      this.#link.send({ type: "ack", id: this.#link.id, bytes: this.#unacked });
      this.#unacked = 0;
    }
    while (this.#waiters[0] !== undefined && this.#waiters[0].upTo <= this.delivered) this.#waiters.shift()?.resolve();
  }

  #deliveredUpTo(upTo: number): Promise<void> {
    if (this.delivered >= upTo) return Promise.resolve();
    if (this.#over !== null) return Promise.reject(this.#over);
    return new Promise((resolve, reject) => this.#waiters.push({ upTo, resolve, reject }));
  }

  // One consumer's error ends its own tail and nothing else.
  #fail(error: unknown): void {
    this.#end(error instanceof Error ? error : new Error(String(error)));
  }

  #end(error: Error): void {
    if (this.#over !== null) return;
    this.#over = error;
    this.#queue.length = 0;
    this.#link.send({ type: "close", id: this.#link.id });
    this.#link.questions.forget(this.#link.id, error);
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
    this.#link.closed();
  }
}
