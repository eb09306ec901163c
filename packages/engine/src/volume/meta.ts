import type { EndRecord, MetaRecord, StartRecord } from "@paperclip-k8s/runner";
import { decodeRecord, MAX_RECORD_BYTES } from "../decode-records.ts";
import { runFiles } from "../request.ts";
import { LineSplitter } from "./lines.ts";
import { mountPointOf } from "./mount-point.ts";
import { withVolume } from "./volume.ts";

/** The runner keeps about 1 MiB of stderr there, which JSON may make several times as long. */
const MAX_META_BYTES = 32 * 1024 * 1024;
const READ_TIMEOUT_MS = 10_000;

interface RecordOwner {
  readonly run: string;
  /** Null = the first start record of the run is believed. */
  readonly nonce: string | null;
}

/** Reads the runner's records; everything else in the file is ignored. */
export class MetaReader {
  end: EndRecord | null = null;
  readonly #owner: RecordOwner;
  readonly #lines = new LineSplitter({ maxLine: MAX_RECORD_BYTES });
  /** Each record belongs to the run of the start record before it. */
  #isOwn = false;

  constructor(owner: RecordOwner) {
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

/** The runner's end record beside an output file; null = there is none, or no such file is seen from here. */
export async function readEnd(outputPath: string, owner: RecordOwner): Promise<EndRecord | null> {
  const { meta: path } = runFiles(outputPath);
  const of = { path, links: "none", maxBytes: MAX_META_BYTES } as const;
  const bytes = await withVolume(mountPointOf(path), (volume) => volume.run("readFile", of, READ_TIMEOUT_MS)).catch(() => null);
  if (bytes === null) return null;
  const reader = new MetaReader(owner);
  reader.push(bytes);
  return reader.end;
}
