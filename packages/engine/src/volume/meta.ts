import type { EndRecord, MetaRecord, StartRecord } from "@paperclip-k8s/runner";
import { LineSplitter } from "./lines.ts";

/** Reads the runner's records; whatever else stands in the file is counted and otherwise ignored. */
export class MetaReader {
  /** Lines that are no record, or stand before the first record. */
  garbage = 0;
  /** Records of another run or nonce. */
  foreign = 0;
  start: StartRecord | null = null;
  end: EndRecord | null = null;
  readonly #owner: { readonly run: string; readonly nonce: string | null };
  readonly #lines = new LineSplitter({ maxLine: 1024 * 1024 });
  #section: "none" | "own" | "foreign" = "none";

  /** Without a nonce any first record of the run is taken. */
  constructor(owner: { readonly run: string; readonly nonce: string | null }) {
    this.#owner = owner;
  }

  /** The run's own records among these bytes, in order. A line counts once its newline is there. */
  push(bytes: Buffer): MetaRecord[] {
    const records: MetaRecord[] = [];
    for (const line of this.#lines.push(bytes)) {
      if (line.part === "piece") continue;
      const record = line.part === "whole" ? parsed(line.bytes) : null;
      if (record === null) this.garbage++;
      else if (this.#accepts(record)) records.push(record);
    }
    return records;
  }

  #accepts(record: MetaRecord): boolean {
    if (record.type === "start") this.#section = this.#isOwn(record) ? "own" : "foreign";
    if (this.#section === "none") this.garbage++;
    if (this.#section === "foreign") this.foreign++;
    if (this.#section !== "own") return false;
    if (record.type === "start") this.start = record;
    if (record.type === "end") this.end = record;
    return true;
  }

  #isOwn(record: StartRecord): boolean {
    return record.run === this.#owner.run && (this.#owner.nonce === null || record.nonce === this.#owner.nonce);
  }
}

type Check = (value: unknown) => boolean;
const text: Check = (value) => typeof value === "string";
const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const amount: Check = (value) => typeof value === "number" && Number.isFinite(value);
const flag: Check = (value) => typeof value === "boolean";
const group: Check = (value) => typeof value === "object" && value !== null;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const causes: readonly unknown[] = ["exit", "timeout", "stopped", "final-line", "spawn-failed", "runner-failed"];

/** The fields of each record; those a newer runner adds are let through. */
const shapes: { readonly [T in MetaRecord["type"]]: Shape<Extract<MetaRecord, { type: T }>> } = {
  start: { at: text, run: text, nonce: text, pod: text, runtime: text },
  "cli-started": { at: text, pid: count },
  stderr: { at: text, text },
  note: { at: text, text },
  state: { at: text, act: text, point: orNull(group), ms: count },
  end: {
    at: text,
    exitCode: orNull((value) => Number.isInteger(value)),
    signal: orNull(text),
    cause: (value) => causes.includes(value),
    bytes: count,
    written: count,
    lines: count,
    oomKills: orNull(count),
    peakMemoryBytes: orNull(amount),
    memoryLimitBytes: orNull(amount),
    error: orNull(text),
    stderrDropped: count,
    leftoversEnded: flag,
    cpuMs: orNull(amount),
    state: (value) => value === undefined || group(value),
  },
};
type Shape<T> = { readonly [K in Exclude<keyof T, "type">]: Check };

function parsed(line: Buffer): MetaRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(line.toString());
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const record = value as Record<string, unknown>;
  if (typeof record.type !== "string" || !Object.hasOwn(shapes, record.type)) return null;
  const shape: Readonly<Record<string, Check>> = shapes[record.type as MetaRecord["type"]];
  return Object.entries(shape).every(([field, check]) => check(record[field])) ? (value as MetaRecord) : null;
}
