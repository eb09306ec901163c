import type { EndRecord, MetaRecord, StartRecord } from "@paperclip-k8s/runner";
import { decodeRecord, MAX_RECORD_BYTES } from "../decode-records.ts";
import { LineSplitter } from "./lines.ts";

/** Reads the runner's records; everything else in the file is ignored. */
export class MetaReader {
  end: EndRecord | null = null;
  readonly #owner: { readonly run: string; readonly nonce: string | null };
  readonly #lines = new LineSplitter({ maxLine: MAX_RECORD_BYTES });
  /** Records belong to whoever wrote the start record before them. */
  #isOwn = false;

  /** Without a nonce the first start record of the run is believed. */
  constructor(owner: { readonly run: string; readonly nonce: string | null }) {
    this.#owner = owner;
  }

  /** The run's own records among these bytes, in order. A line counts once its newline is there. */
  push(bytes: Buffer): MetaRecord[] {
    const records: MetaRecord[] = [];
    for (const line of this.#lines.push(bytes)) {
      const record = line.part === "whole" ? decodeRecord(line.bytes) : null;
      if (record?.type === "start") this.#isOwn = this.#startsOwn(record);
      if (record === null || !this.#isOwn) continue;
      if (record.type === "end") this.end = record;
      records.push(record);
    }
    return records;
  }

  #startsOwn({ run, nonce }: StartRecord): boolean {
    return run === this.#owner.run && (this.#owner.nonce === null || nonce === this.#owner.nonce);
  }
}
