/** NULs must stay the same this long, over this many opens, to be taken for data. */
const holeMs = 2_000;
const holeLooks = 5;

/** Tells a hole (the size has arrived on this side of the volume, the data has not) from NULs that were written. */
export class NulGuard {
  #doubt: { readonly offset: number; readonly bytes: Buffer; readonly since: number; looks: number } | null = null;

  /** Bytes are being held back. */
  get holds(): boolean {
    return this.#doubt !== null;
  }

  /** How many bytes of this read, from its start, are data. Everything before `provenTo` is. */
  believable(read: Buffer, offset: number, provenTo: number, now: number): number {
    const nul = read.indexOf(0, Math.max(0, Math.min(provenTo - offset, read.length)));
    if (nul === -1 || nul > 0) {
      this.#doubt = null;
      return nul === -1 ? read.length : nul;
    }
    const doubt = this.#doubt;
    if (doubt === null || doubt.offset !== offset || !read.subarray(0, doubt.bytes.length).equals(doubt.bytes)) {
      this.#doubt = { offset, bytes: Buffer.from(read), since: now, looks: 1 };
      return 0;
    }
    doubt.looks++;
    if (doubt.looks < holeLooks || now - doubt.since < holeMs) return 0;
    this.#doubt = null;
    return doubt.bytes.length;
  }
}
