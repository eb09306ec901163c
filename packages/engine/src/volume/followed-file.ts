import { closeSync, readSync } from "node:fs";
import { NulGuard } from "./nul-guard.ts";
import { chunkBytes, creditBytes, type Fault, faultOf } from "./protocol.ts";
import { fetchTrueSize, isAbsent, openToRead } from "./read-file.ts";
import { pollInterval } from "./tail-loop.ts";
import type { Sight } from "./visibility.ts";

/** Where a followed file's news goes. */
export interface Outlet {
  /** False while the channel to the server is full. */
  readonly ready: boolean;
  bytes(id: number, offset: number, bytes: Buffer): void;
  refreshed(ask: number, offset: number, missing: boolean): void;
  failed(ask: number, fault: Fault): void;
  trouble(id: number, fault: Fault): void;
  well(id: number): void;
}

export interface FollowedFileOptions {
  readonly id: number;
  readonly path: string;
  readonly offset: number;
  readonly expected: number;
  readonly troubled: boolean;
}

type ReadState = "end" | "more" | "no-credit";

// One for all files: nothing is allocated for a look that finds nothing.
const buffer = Buffer.allocUnsafeSlow(chunkBytes);

/** When nothing new comes: first look for the true size, and the longest time between two. */
const firstTrueSizeMs = 1_000;
const lastTrueSizeMs = 10_000;
/** The same on a volume whose plain reads are not known to show what is there. */
const blindTrueSizeMs = 100;

/** One file that grows: each poll opens it, reads from the offset until nothing is left, closes it. Its size is never asked for. */
export class FollowedFile {
  readonly id: number;
  readonly path: string;
  /** Time of the next poll; infinite while the consumer has to catch up. */
  due: number;
  readonly #outlet: Outlet;
  readonly #sight: Sight;
  readonly #nuls = new NulGuard();
  readonly #startedFrom: number;
  #offset: number;
  #inFlight = 0;
  #expected: number;
  #expectedNext: number;
  #grewAt: number;
  #trueSizeAt: number;
  #trueSizeAfter = firstTrueSizeMs;
  /** Last growth or look for the true size. */
  #lookedAt: number;
  /** The last read came to the end of the file as it was then. */
  #atEnd = false;
  #troubled: boolean;
  #asked: number[] = [];
  #looking: number[] = [];

  constructor(options: FollowedFileOptions, outlet: Outlet, sight: Sight, now: number) {
    this.id = options.id;
    this.path = options.path;
    this.due = now;
    this.#outlet = outlet;
    this.#sight = sight;
    this.#offset = this.#startedFrom = options.offset;
    this.#expected = 0;
    this.#expectedNext = options.expected;
    this.#grewAt = this.#lookedAt = now;
    this.#trueSizeAt = now + firstTrueSizeMs;
    this.#troubled = options.troubled;
  }

  /** The consumer has taken bytes. True when the file waited for that. */
  ack(bytes: number, now: number): boolean {
    this.#inFlight -= bytes;
    if (this.due !== Number.POSITIVE_INFINITY) return false;
    this.due = now;
    return true;
  }

  /** NULs below `bytes` are data. */
  expect(bytes: number, now: number): void {
    this.#expectedNext = Math.max(this.#expectedNext, bytes);
    this.due = now;
  }

  refresh(ask: number, now: number): void {
    this.#asked.push(ask);
    this.due = now;
  }

  poll(now: number): void {
    try {
      const state = this.#look(now);
      this.#setTroubled(null);
      if (state === "end") this.#answer(false);
      this.due = state === "no-credit" ? Number.POSITIVE_INFINITY : state === "more" ? now : this.#nextLook(now);
    } catch (error) {
      this.due = this.#nextLook(now);
      if (isAbsent(error)) this.#answer(true);
      else this.#setTroubled(faultOf(error, this.path));
    }
  }

  #nextLook(now: number): number {
    return now + pollInterval(now - this.#grewAt, this.#offset > this.#startedFrom);
  }

  // What plain reads find, and what only a look for the true size finds, tells what plain reads are worth on this volume.
  #look(now: number): ReadState {
    if (this.#asked.length > 0 || this.#expected !== this.#expectedNext) {
      this.#lookForTrueSize(now);
      return this.#read(now);
    }
    const { state, grew } = this.#reread(now);
    if (grew) this.#sight.plain = true;
    if (state !== "end" || !this.#trueSizeIsDue(now)) return state;
    this.#lookForTrueSize(now);
    const second = this.#reread(now);
    if (second.grew) this.#sight.plain = false;
    return second.state;
  }

  #reread(now: number): { state: ReadState; grew: boolean } {
    const end = this.#atEnd ? this.#offset : Number.POSITIVE_INFINITY;
    const state = this.#read(now);
    return { state, grew: this.#offset > end };
  }

  #read(now: number): ReadState {
    this.#atEnd = false;
    const fd = openToRead(this.path);
    try {
      for (;;) {
        if (creditBytes - this.#inFlight < chunkBytes) return "no-credit";
        if (!this.#outlet.ready) return "more";
        const size = readSync(fd, buffer, 0, chunkBytes, this.#offset);
        this.#atEnd = size === 0;
        if (size === 0) return "end";
        const held = this.#nuls.holds;
        const good = this.#nuls.believable(buffer.subarray(0, size), this.#offset, this.#expected, now);
        if (good > 0) this.#deliver(buffer.subarray(0, good), now);
        if (good > 0) continue;
        // Newly in doubt: one look for the true size belongs to finding out.
        if (!held) this.#trueSizeAt = Math.min(this.#trueSizeAt, now + firstTrueSizeMs / 2);
        return "end";
      }
    } finally {
      closeSync(fd);
    }
  }

  #deliver(bytes: Buffer, now: number): void {
    this.#outlet.bytes(this.id, this.#offset, bytes);
    this.#offset += bytes.length;
    this.#inFlight += bytes.length;
    this.#grewAt = this.#lookedAt = now;
    this.#trueSizeAfter = firstTrueSizeMs;
    this.#trueSizeAt = now + firstTrueSizeMs;
  }

  // More and more seldom while nothing comes, unless nothing may mean that it is not shown.
  #trueSizeIsDue(now: number): boolean {
    return now >= this.#trueSizeAt || (!this.#sight.plain && now - this.#lookedAt >= blindTrueSizeMs);
  }

  // Always when asked to look, and before NULs are believed on somebody's word.
  #lookForTrueSize(now: number): void {
    fetchTrueSize(this.path);
    this.#lookedAt = now;
    this.#expected = this.#expectedNext;
    this.#looking.push(...this.#asked);
    this.#asked = [];
    if (now < this.#trueSizeAt) return;
    this.#trueSizeAfter = Math.min(this.#trueSizeAfter * 2, lastTrueSizeMs);
    this.#trueSizeAt = now + this.#trueSizeAfter;
  }

  #answer(missing: boolean): void {
    for (const ask of this.#looking) this.#outlet.refreshed(ask, this.#offset, missing);
    this.#looking = [];
  }

  #setTroubled(fault: Fault | null): void {
    if (fault !== null) {
      for (const ask of this.#looking) this.#outlet.failed(ask, fault);
      this.#looking = [];
    }
    if (this.#troubled === (fault !== null)) return;
    this.#troubled = fault !== null;
    if (fault !== null) this.#outlet.trouble(this.id, fault);
    else this.#outlet.well(this.id);
  }
}
