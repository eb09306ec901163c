import { type MetaRecord, type StartRecord, sign } from "@paperclip-k8s/runner";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endRecord } from "../outcome/testing/example-facts.ts";
import { type RecordTrust, recordKey } from "../record-trust.ts";
import { MetaReader } from "./meta.ts";

const at = "2026-01-01T00:00:00.000Z";
const start: StartRecord = { type: "start", at, run: "r1", nonce: "n1", pod: "p", runtime: "node 24" };
const end = endRecord({ peakMemoryBytes: 1.5e6, cpuMs: 12.5 });
const stderr = { type: "stderr", at, text: "é\n" } as const;
const note = { type: "note", at, text: "n" } as const;
const file = (...records: readonly unknown[]): Buffer => Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
const key = recordKey(Buffer.alloc(32, 3), "r1", "n1");
/** The same records as the runner writes them; the first has this number. */
const signed = (records: readonly unknown[], options: { readonly by?: Buffer; readonly from?: number } = {}): Buffer => {
  const { by = key, from = 1 } = options;
  return Buffer.from(records.map((record, n) => `${sign(JSON.stringify({ ...(record as object), seq: from + n }), by)}\n`).join(""));
};
const owner = { run: "r1", nonce: "n1" };
const SIGNED: RecordTrust = { kind: "signed", key };
const UNSIGNED: RecordTrust = { kind: "unsigned" };
const read = (trust: RecordTrust, ...parts: readonly Buffer[]) => new MetaReader(owner, trust).push(Buffer.concat(parts));

const all = [start, { type: "cli-started", at, pid: 7 }, stderr, note, end];
it.each([
  ["signed", SIGNED, signed(all)],
  ["unsigned", UNSIGNED, file(...all)],
] as const)("%s records come in order, however the bytes are cut", (_, trust, bytes) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 80 }), (size) => {
      const meta = new MetaReader(owner, trust);
      const records: MetaRecord[] = [];
      for (let i = 0; i < bytes.length; i += size) records.push(...meta.push(bytes.subarray(i, i + size)).records);
      expect(records).toEqual(all);
    }),
  );
});

it.each([
  ["signed", SIGNED, signed([start, end])],
  ["unsigned", UNSIGNED, file(start, end)],
] as const)("%s: a line that is not complete does not count", (_, trust, bytes) => {
  const meta = new MetaReader(owner, trust);
  expect(meta.push(bytes.subarray(0, -1))).toEqual({ records: [start], foreign: 0 });
  expect(meta.push(Buffer.from("\n"))).toEqual({ records: [end], foreign: 0 });
});

describe("in the file of a signed run", () => {
  it("a record of another run's key, of no key, or with one letter changed is foreign", () => {
    const other = recordKey(Buffer.alloc(32, 3), "r2", "n1");
    const changed = Buffer.from(signed([end], { from: 3 }).toString().replace('"exitCode":0', '"exitCode":1'));
    const forged = [file(end), signed([end], { by: other, from: 9 }), changed, Buffer.from("{not json\n\0\n\n")];
    expect(read(SIGNED, signed([start]), ...forged, signed([note], { from: 2 }))).toEqual({ records: [start, note], foreign: 6 });
  });

  it("a copy of an earlier line is foreign", () => {
    const lines = signed([start, note]);
    expect(read(SIGNED, lines, lines, signed([end], { from: 3 }))).toEqual({ records: [start, note, end], foreign: 2 });
  });

  it("a line longer than any record is foreign, once", () => {
    const long = Buffer.from(`${"x".repeat(3 * 1024 * 1024)}\n`);
    expect(read(SIGNED, signed([start]), long, signed([end], { from: 2 }))).toEqual({ records: [start, end], foreign: 1 });
  });

  it("nothing counts where the server cannot derive the key", () => {
    expect(read({ kind: "signed", key: null }, signed(all))).toEqual({ records: [], foreign: all.length });
  });

  it("what the run itself has signed and is no record is left out", () => {
    const bad = [{ type: "end" }, { ...end, bytes: -1 }, { type: "toString" }, { ...stderr, text: 1 }];
    expect(read(SIGNED, signed([start, ...bad, end]))).toEqual({ records: [start, end], foreign: 0 });
  });

  it("whatever others write there, reading does not throw and the run's own records are found", () => {
    const junk = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.concat([Buffer.from(bytes), Buffer.from("\n")]));
    const forged = fc.jsonValue().map((value) => file({ ...end, seq: 2, mac: value }));
    fc.assert(
      fc.property(fc.array(fc.oneof(junk, forged), { maxLength: 5 }), (lines) => {
        expect(read(SIGNED, signed([start]), ...lines, signed([end], { from: 2 })).records).toEqual([start, end]);
      }),
    );
  });
});

describe("in the file of a run that does not sign", () => {
  it("what is no record is passed over", () => {
    const bad = [null, 1, {}, { type: "end" }, { ...end, bytes: -1 }, { ...end, cause: "?" }, { type: "toString" }, { ...stderr, text: 1 }];
    const { records } = read(UNSIGNED, file(start, ...bad), Buffer.from("{not json\n\0\0\n\n"), file(end));
    expect(records).toEqual([start, end]);
  });

  it.each([
    ["another nonce", { ...start, nonce: "n2" }],
    ["another run", { ...start, run: "r2" }],
  ])("the records of %s are ignored", (_, other) => {
    const { records } = read(UNSIGNED, file(other, stderr, end), file(start, end), file(other, stderr, end));
    expect(records).toEqual([start, end]);
  });

  it("records before the first start record, and lines longer than any record, are ignored", () => {
    expect(read(UNSIGNED, file(end)).records).toEqual([]);
    expect(read(UNSIGNED, file(start, { ...stderr, text: "x".repeat(2 * 1024 * 1024) }, end)).records).toEqual([start, end]);
  });
});
