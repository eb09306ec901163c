import { chunkBytes, type Fault, type ToVolume, type WakeUpSource } from "./protocol.ts";
import type { PendingRequests, RequestOptions } from "./requests.ts";
import { mayPass, VolumeError, volumeErrorOf } from "./volume-error.ts";

export interface TailOptions {
  /** Awaited before more is given. If a callback throws, the tail ends and `refresh` rejects with what was thrown. */
  readonly onBytes: (bytes: Buffer) => Promise<void> | void;
  /** What the file holds beyond this is not read; no limit unless set. */
  readonly maxBytes?: number;
  /** Wake-ups tell when the file grows; absent = nobody does. */
  readonly wakeUp?: WakeUpSource;
  /** The volume does not answer, or the file cannot be read. Output may still come; `passes`: as soon as the volume answers. */
  readonly onStall?: (error: string, passes: boolean) => void;
  readonly onBack?: () => void;
  /** There is no room on the volume for more, or there is again. */
  readonly onRoom?: (full: boolean) => void;
}

/** A file that is followed while it grows. */
export interface Tail {
  /** Position in the file up to which bytes were delivered and taken. */
  readonly delivered: number;
  /** Reads past every cache and resolves when all that was found is taken. Rejects with `volume_stalled` after `timeoutMs` without progress. */
  refresh(timeoutMs?: number): Promise<{ delivered: number }>;
  /** The file is known to be complete up to `bytes`: NULs before that are data, not a hole. */
  expect(bytes: number): void;
  /** The file ends at `bytes`: what is appended behind that is not read. */
  limit(bytes: number): void;
  close(): void;
}

interface TailLink {
  readonly id: number;
  readonly path: string;
  readonly send: (message: ToVolume) => void;
  readonly requests: PendingRequests;
  readonly closed: () => void;
}

/** The server's end of a tail: hands bytes to the consumer one piece at a time and acknowledges them to the volume's process. */
export class FollowingTail implements Tail {
  delivered = 0;
  readonly #options: TailOptions;
  readonly #link: TailLink;
  readonly #queue: Buffer[] = [];
  readonly #waiters: { readonly upTo: number; readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  #received = 0;
  #unacked = 0;
  #expected = 0;
  #maxBytes: number;
  #busy = false;
  #ended: Error | null = null;
  #stalled = false;
  #unreadable = false;

  constructor(options: TailOptions, link: TailLink) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? Number.MAX_SAFE_INTEGER;
    this.#link = link;
  }

  /** Has a new process go on after what has arrived here. */
  open(): void {
    const { id, path } = this.#link;
    const state = { offset: this.#received, expected: this.#expected, maxBytes: this.#maxBytes, unreadable: this.#unreadable };
    const { wakeUp } = this.#options;
    this.#link.send({ type: "open", id, path, ...state, ...(wakeUp && { wakeUp }) });
    // The new process does not count the bytes that still wait here as in flight.
    this.#unacked = this.delivered - this.#received;
  }

  receive(offset: number, bytes: Buffer): void {
    if (this.#ended !== null || offset !== this.#received) return;
    this.#received += bytes.length;
    this.#queue.push(bytes);
    if (!this.#busy) void this.#pump();
  }

  async refresh(timeoutMs = 10_000): Promise<{ delivered: number }> {
    if (this.#ended !== null) throw this.#ended;
    const { id, path, requests } = this.#link;
    await this.#deliveredUpTo((await requests.ask({ type: "refresh", id }, this.#untilStuck(path, timeoutMs))) as number);
    return { delivered: this.delivered };
  }

  expect(bytes: number): void {
    if (bytes <= this.#expected) return;
    this.#expected = bytes;
    this.#link.send({ type: "expect", id: this.#link.id, bytes });
  }

  limit(bytes: number): void {
    if (bytes >= this.#maxBytes) return;
    this.#maxBytes = bytes;
    this.#link.send({ type: "limit", id: this.#link.id, bytes });
  }

  close(): void {
    this.#end(new VolumeError("volume_failed", this.#link.path, `no longer followed: ${this.#link.path}`));
  }

  /** The whole volume does not answer, or answers again. */
  setStalled(error: string | null): void {
    this.#report(error !== null, this.#unreadable, error, true);
  }

  /** This one file cannot be read, or can be read again. */
  setUnreadable(fault: Fault | null): void {
    this.#report(this.#stalled, fault !== null, fault?.message ?? null, fault !== null && mayPass(volumeErrorOf(fault)));
  }

  setFull(full: boolean): void {
    if (this.#ended === null) this.#options.onRoom?.(full);
  }

  #report(stalled: boolean, unreadable: boolean, error: string | null, passes: boolean): void {
    const before = this.#stalled || this.#unreadable;
    const after = stalled || unreadable;
    this.#stalled = stalled;
    this.#unreadable = unreadable;
    if (before === after || this.#ended !== null) return;
    try {
      if (after) this.#options.onStall?.(error ?? "", passes);
      else this.#options.onBack?.();
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  // While bytes arrive, or the consumer is busy with them, the volume is not stuck.
  #untilStuck(path: string, timeoutMs: number): RequestOptions {
    let seen = this.#received;
    const goesOn = (): boolean => {
      const moved = this.#busy || this.#received > seen;
      seen = this.#received;
      return moved;
    };
    return { path, intervalMs: timeoutMs, goesOn };
  }

  async #pump(): Promise<void> {
    this.#busy = true;
    try {
      for (let bytes = this.#queue.shift(); bytes !== undefined; bytes = this.#queue.shift()) {
        const taken = this.#options.onBytes(bytes);
        if (taken !== undefined) await taken;
        if (this.#ended !== null) return;
        this.#took(bytes.length);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#busy = false;
    }
  }

  // Acknowledged in steps: a consumer that keeps up costs almost no messages.
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
    if (this.#ended !== null) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => this.#waiters.push({ upTo, resolve, reject }));
  }

  // One consumer's error ends its own tail and nothing else.
  #fail(error: unknown): void {
    this.#end(error instanceof Error ? error : new Error(String(error)));
  }

  #end(error: Error): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    this.#queue.length = 0;
    this.#link.send({ type: "close", id: this.#link.id });
    this.#link.requests.forget(this.#link.id, error);
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
    this.#link.closed();
  }
}
