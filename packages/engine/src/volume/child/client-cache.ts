// The client of a network file system may show a file as it was seconds ago: shorter than it is, or with its size but not yet its bytes.
import { closeSync, fchmodSync, fstatSync } from "node:fs";
import { orNull } from "./in-folder.ts";

/** A fresh open makes an NFS client ask its server again. Throws where a link is on the way. */
export type OpenToRead = (path: string) => number;

/** When nothing new comes: time until the first probe, and the longest time between two. */
const firstProbeMs = 1_000;
const longestMs = 10_000;
/** The same on a volume whose plain reads are not known to show growth. */
const unprovenMs = 100;

/** What is known about a volume's client, learned from its files as they grow. */
export interface ClientCache {
  /** A fresh open shows what others wrote. Not assumed: some clients keep a file's size for many seconds. */
  showsGrowth: boolean;
}

/** Decides when a file's true size is fetched past the client's cache, and fetches it. */
export class SizeProbe {
  readonly #cache: ClientCache;
  readonly #open: OpenToRead;
  #dueAt: number;
  #intervalMs = firstProbeMs;
  /** Last growth or probe. */
  #knownAt: number;

  constructor(cache: ClientCache, open: OpenToRead, now: number) {
    this.#cache = cache;
    this.#open = open;
    this.#knownAt = now;
    this.#dueAt = now + firstProbeMs;
  }

  /** What plain reads find, and what only a probe finds, shows what plain reads are worth on this volume. */
  grew(by: "plain-read" | "probe"): void {
    this.#cache.showsGrowth = by === "plain-read";
  }

  restart(now: number): void {
    this.#knownAt = now;
    this.#intervalMs = firstProbeMs;
    this.#dueAt = now + firstProbeMs;
  }

  /** Bytes are in doubt: a probe belongs to finding out. */
  soon(now: number): void {
    this.#dueAt = Math.min(this.#dueAt, now + firstProbeMs / 2);
  }

  /** Less and less often while nothing comes, unless the client may be hiding it. */
  isDue(now: number): boolean {
    return now >= this.#dueAt || (!this.#cache.showsGrowth && now - this.#knownAt >= unprovenMs);
  }

  run(path: string, now: number): void {
    fetchTrueSize(path, this.#open);
    this.#knownAt = now;
    if (now < this.#dueAt) return;
    this.#intervalMs = Math.min(this.#intervalMs * 2, longestMs);
    this.#dueAt = now + this.#intervalMs;
  }
}

/** Sets the file to the mode it has: the attribute change makes a caching client fetch the true size. A hint, so failing is fine. */
function fetchTrueSize(path: string, open: OpenToRead): void {
  const fd = orNull(() => open(path));
  if (fd === null) return;
  orNull(() => fchmodSync(fd, fstatSync(fd).mode & 0o7777));
  orNull(() => closeSync(fd));
}

/** NULs must stay the same this long, over this many reads, to be taken for data. */
const holeMs = 2_000;
const holeReads = 5;

/** Tells a hole (the size has arrived on this side of the volume, the data has not) from NULs that were written. */
export class NulGuard {
  #doubt: { readonly offset: number; readonly bytes: Buffer; readonly since: number; reads: number } | null = null;

  get isHoldingBack(): boolean {
    return this.#doubt !== null;
  }

  /** How many bytes of this read, from its start, are data. Everything before `provenTo` is. */
  dataLength(read: Buffer, offset: number, provenTo: number, now: number): number {
    const nul = read.indexOf(0, Math.max(0, Math.min(provenTo - offset, read.length)));
    if (nul === -1 || nul > 0) {
      this.#doubt = null;
      return nul === -1 ? read.length : nul;
    }
    const doubt = this.#doubt;
    if (doubt === null || doubt.offset !== offset || !read.subarray(0, doubt.bytes.length).equals(doubt.bytes)) {
      this.#doubt = { offset, bytes: Buffer.from(read), since: now, reads: 1 };
      return 0;
    }
    doubt.reads++;
    if (doubt.reads < holeReads || now - doubt.since < holeMs) return 0;
    this.#doubt = null;
    return doubt.bytes.length;
  }
}
