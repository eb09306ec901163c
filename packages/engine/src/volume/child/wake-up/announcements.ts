import type { RunTrust } from "./run-trust.ts";

/** A wake-up may come this long after a poll that was there first, and still has announced it. */
const lateMs = 50;
/** What was announced but cannot be read yet, as on a network file system, is looked for this often, so long. */
const lookEveryMs = 10;
const lookForMs = 200;
/** After a wake-up that turned out wrong: a run that lies costs no more than one that does not. */
const restMs = 1_000;
const probeEveryMs = 50;

/** What wake-ups have said of one file, beside what was read of it. Sizes are somebody's word: they only decide when to look. */
export class Announcements {
  readonly #trust: RunTrust;
  /** The longest that the file was said to be. */
  #announced = 0;
  /** Growth that nobody has announced yet. */
  #doubt: { readonly upTo: number; readonly until: number } | null = null;
  #looking: { readonly upTo: number; readonly until: number; probeAt: number } | null = null;
  #restUntil = 0;

  constructor(trust: RunTrust) {
    this.#trust = trust;
  }

  /** A wake-up. */
  announce(size: number, offset: number, now: number): void {
    this.#announced = Math.max(this.#announced, size);
    if (this.#doubt !== null && this.#announced >= this.#doubt.upTo && now <= this.#doubt.until) {
      this.#doubt = null;
      this.#trust.announced();
    }
    if (size > offset && this.#looking === null && now >= this.#restUntil)
      this.#looking = { upTo: size, until: now + lookForMs, probeAt: now };
  }

  /** A poll has found that a file that was read to its end is longer now. */
  grew(offset: number, now: number): void {
    this.#settle(now);
    if (this.#announced >= offset) this.#trust.announced();
    else this.#doubt ??= { upTo: offset, until: now + lateMs };
  }

  /** Until the next poll of a file that is read up to `offset`. */
  interval(usualMs: number, offset: number, now: number): number {
    this.#settle(now);
    const looking = this.#looking;
    if (looking !== null && offset >= looking.upTo) this.#looking = null;
    else if (looking !== null && now >= looking.until) {
      this.#looking = null;
      this.#restUntil = now + restMs;
    }
    if (this.#looking !== null) return Math.min(usualMs, lookEveryMs);
    return this.#doubt === null ? this.#trust.interval(usualMs) : usualMs;
  }

  /** What was announced does not show in a plain read: the client's cache may hide it. */
  wantsProbe(offset: number, now: number): boolean {
    const looking = this.#looking;
    if (looking === null || offset >= looking.upTo || now < looking.probeAt) return false;
    looking.probeAt = now + probeEveryMs;
    return true;
  }

  #settle(now: number): void {
    if (this.#doubt === null || now <= this.#doubt.until) return;
    this.#doubt = null;
    this.#trust.missed();
  }
}
