import { closeSync, readSync } from "node:fs";
import { chunkBytes, creditBytes, type Fault, type FromVolume, faultOf, type OpenFile } from "../protocol.ts";
import { type ClientCache, NulGuard, type OpenToRead, SizeProbe } from "./client-cache.ts";
import { pollInterval } from "./tail-loop.ts";
import type { Announcements } from "./wake-up/announcements.ts";

/** Between two polls of a file that wake-ups ask for. */
const shortestMs = 5;

/** The way to the server. */
export interface Channel {
  /** False while it is full. */
  readonly ready: () => boolean;
  readonly send: (message: FromVolume) => void;
}

/** What all files of a volume have in common. */
export interface FollowTools {
  readonly cache: ClientCache;
  readonly open: OpenToRead;
}

type ReadState = "end" | "more" | "no-credit";

// One for all files: a poll that finds nothing allocates nothing.
const buffer = Buffer.allocUnsafeSlow(chunkBytes);

/** One file that grows: each poll opens it, reads from the offset until nothing is left, closes it. Its size is never asked for. */
export class FollowedFile {
  readonly id: number;
  readonly path: string;
  /** Time of the next poll; infinite while the consumer has to catch up. */
  due: number;
  readonly #channel: Channel;
  readonly #open: OpenToRead;
  readonly #probe: SizeProbe;
  readonly #nuls = new NulGuard();
  readonly #startedFrom: number;
  /** Null = nobody tells when the file grows. */
  readonly #announcements: Announcements | null;
  #maxBytes: number;
  #offset: number;
  #inFlight = 0;
  #expected = 0;
  #expectedNext: number;
  #grewAt: number;
  #polledAt = Number.NEGATIVE_INFINITY;
  /** The last read came to the end of the file as it was then. */
  #atEnd = false;
  #unreadable: boolean;
  /** Refreshes that wait for a probe, and those that wait for the reads after it. */
  #asked: number[] = [];
  #probed: number[] = [];

  constructor(options: OpenFile, channel: Channel, { cache, open }: FollowTools, now: number, announcements: Announcements | null = null) {
    this.id = options.id;
    this.path = options.path;
    this.due = now;
    this.#channel = channel;
    this.#open = open;
    this.#probe = new SizeProbe(cache, open, now);
    this.#offset = this.#startedFrom = options.offset;
    this.#maxBytes = options.maxBytes;
    this.#expectedNext = options.expected;
    this.#grewAt = now;
    this.#unreadable = options.unreadable;
    this.#announcements = announcements;
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

  /** The file ends at `bytes`, whatever is appended to it. */
  limit(bytes: number): void {
    this.#maxBytes = Math.min(this.#maxBytes, bytes);
  }

  refresh(ask: number, now: number): void {
    this.#asked.push(ask);
    this.due = now;
  }

  wake(size: number, now: number): number | null {
    const announced = Math.min(size, this.#maxBytes);
    this.#announcements?.announce(announced, this.#offset, now);
    if (announced <= this.#offset || this.due === Number.POSITIVE_INFINITY) return null;
    const at = Math.max(now, this.#polledAt + shortestMs);
    return this.due <= at && at > now ? null : at;
  }

  pollAsUsual(now: number): void {
    this.due = Math.min(this.due, now + this.#usualInterval(now));
  }

  poll(now: number): void {
    this.#polledAt = now;
    try {
      const state = this.#readNew(now);
      if (this.#unreadable) this.#channel.send({ type: "readable", id: this.id });
      this.#unreadable = false;
      if (state === "end") this.#answer(null);
      this.due = state === "no-credit" ? Number.POSITIVE_INFINITY : state === "more" ? now : this.#nextPoll(now);
    } catch (error) {
      this.due = this.#nextPoll(now);
      const { code } = error as NodeJS.ErrnoException;
      // Not there yet, or replaced behind the client's back: the next poll opens it by its path again.
      const fault = code === "ENOENT" || code === "ESTALE" ? null : faultOf(error, this.path);
      this.#answer(fault);
      if (fault === null) return;
      if (!this.#unreadable) this.#channel.send({ type: "unreadable", id: this.id, fault });
      this.#unreadable = true;
    }
  }

  #nextPoll(now: number): number {
    const usual = this.#usualInterval(now);
    return now + (this.#announcements?.interval(usual, this.#offset, now) ?? usual);
  }

  #usualInterval(now: number): number {
    return pollInterval(now - this.#grewAt, this.#offset > this.#startedFrom);
  }

  #readNew(now: number): ReadState {
    if (this.#asked.length > 0 || this.#expected !== this.#expectedNext) {
      this.#probeSize(now);
      return this.#read(now);
    }
    const { state, grew } = this.#reread(now);
    if (grew) this.#probe.grew("plain-read");
    const hidden = state === "end" && this.#announcements?.wantsProbe(this.#offset, now) === true;
    if (state !== "end" || (!hidden && !this.#probe.isDue(now))) return state;
    this.#probeSize(now);
    const second = this.#reread(now);
    if (second.grew) this.#probe.grew("probe");
    return second.state;
  }

  #reread(now: number): { state: ReadState; grew: boolean } {
    const end = this.#atEnd ? this.#offset : Number.POSITIVE_INFINITY;
    const state = this.#read(now);
    const grew = this.#offset > end;
    if (grew) this.#announcements?.grew(this.#offset, now);
    return { state, grew };
  }

  #read(now: number): ReadState {
    this.#atEnd = false;
    const fd = this.#open(this.path);
    try {
      for (;;) {
        if (creditBytes - this.#inFlight < chunkBytes) return "no-credit";
        if (!this.#channel.ready()) return "more";
        const size = readSync(fd, buffer, 0, Math.max(0, Math.min(chunkBytes, this.#maxBytes - this.#offset)), this.#offset);
        this.#atEnd = size === 0;
        if (size === 0) return "end";
        const inDoubt = this.#nuls.isHoldingBack;
        const good = this.#nuls.dataLength(buffer.subarray(0, size), this.#offset, this.#expected, now);
        if (good > 0) this.#deliver(buffer.subarray(0, good), now);
        if (good > 0) continue;
        if (!inDoubt) this.#probe.soon(now);
        return "end";
      }
    } finally {
      closeSync(fd);
    }
  }

  #deliver(bytes: Buffer, now: number): void {
    this.#channel.send({ type: "bytes", id: this.id, offset: this.#offset, bytes });
    this.#offset += bytes.length;
    this.#inFlight += bytes.length;
    this.#grewAt = now;
    this.#probe.restart(now);
  }

  /** Always for a refresh, and before NULs are taken for data on somebody's word. */
  #probeSize(now: number): void {
    this.#probe.run(this.path, now);
    this.#expected = this.#expectedNext;
    this.#probed.push(...this.#asked);
    this.#asked = [];
  }

  #answer(fault: Fault | null): void {
    for (const ask of this.#probed)
      this.#channel.send(fault === null ? { type: "done", ask, result: this.#offset } : { type: "failed", ask, fault });
    this.#probed = [];
  }
}
