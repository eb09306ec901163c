// Records as the lines of the meta file. Each signed one has a number that counts up, so that a copy of an earlier line is seen as one.
import { sign } from "../mac.ts";
import type { MetaRecord } from "../records.ts";

export class RecordLines {
  readonly #key: Buffer | null;
  #seq = 0;

  constructor(key: Buffer | null) {
    this.#key = key;
  }

  line(record: MetaRecord): string {
    if (this.#key === null) return `${JSON.stringify(record)}\n`;
    this.#seq += 1;
    return `${sign(JSON.stringify({ ...record, seq: this.#seq }), this.#key)}\n`;
  }
}
