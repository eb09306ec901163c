import type { MetaRecord } from "@paperclip-k8s/runner";
import { MAX_RECORD_BYTES } from "../decode-records.ts";
import { createRecordCheck, type RecordCheck, type RecordOwner, type RecordTrust } from "../record-trust.ts";
import { LineSplitter } from "./lines.ts";

const NEWLINE = 0x0a;
/** The runner keeps about 1 MiB of stderr there, which JSON may make several times as long. */
export const MAX_META_BYTES: number = 32 * 1024 * 1024;

interface ReadRecords {
  /** The run's own, in order. */
  readonly records: readonly MetaRecord[];
  /** How many lines somebody else has written. */
  readonly foreign: number;
}

/** Reads the runner's records; everything else in the file is ignored. */
export class MetaReader {
  readonly #check: RecordCheck;
  readonly #signed: boolean;
  readonly #lines = new LineSplitter({ maxLine: MAX_RECORD_BYTES });

  constructor(owner: RecordOwner, trust: RecordTrust) {
    this.#check = createRecordCheck(trust, owner);
    this.#signed = trust.kind === "signed";
  }

  /** What these bytes add. A line counts once its newline is there. */
  push(bytes: Buffer): ReadRecords {
    const records: MetaRecord[] = [];
    let foreign = 0;
    for (const line of this.#lines.push(bytes)) {
      if (line.part === "piece") continue;
      const result = line.part === "whole" ? this.#check(withoutNewline(line.bytes)) : this.#tooLong();
      if (result === "foreign") foreign += 1;
      else if (result !== null) records.push(result);
    }
    return { records, foreign };
  }

  /** The runner writes no line of that length. */
  #tooLong(): "foreign" | null {
    return this.#signed ? "foreign" : null;
  }
}

const withoutNewline = (line: Buffer): Buffer => (line.at(-1) === NEWLINE ? line.subarray(0, -1) : line);
