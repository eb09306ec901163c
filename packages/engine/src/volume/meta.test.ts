import type { MetaRecord, StartRecord } from "@paperclip-k8s/runner";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endRecord } from "../outcome/testing/example-facts.ts";
import { MetaReader } from "./meta.ts";

const at = "2026-01-01T00:00:00.000Z";
const start: StartRecord = { type: "start", at, run: "r1", nonce: "n1", pod: "p", runtime: "node 24" };
const end = endRecord({ peakMemoryBytes: 1.5e6, cpuMs: 12.5 });
const stderr = { type: "stderr", at, text: "é\n" } as const;
const file = (...records: readonly unknown[]): Buffer => Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));

describe("MetaReader", () => {
  it("gives the records in order, however the bytes are cut", () => {
    const bytes = file(start, { type: "cli-started", at, pid: 7 }, stderr, { type: "note", at, text: "n" }, end);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 80 }), (size) => {
        const meta = new MetaReader({ run: "r1", nonce: "n1" });
        const records: MetaRecord[] = [];
        for (let i = 0; i < bytes.length; i += size) records.push(...meta.push(bytes.subarray(i, i + size)));
        expect(records.map((record) => record.type)).toEqual(["start", "cli-started", "stderr", "note", "end"]);
        expect([records[0], meta.end]).toEqual([start, end]);
      }),
    );
  });

  it("does not believe an end record whose line is not complete", () => {
    const meta = new MetaReader({ run: "r1", nonce: null });
    meta.push(file(start, end).subarray(0, -1));
    expect(meta.end).toBeNull();
    meta.push(Buffer.from("\n"));
    expect(meta.end).toEqual(end);
  });

  it("passes over what is no record", () => {
    const bad = [null, 1, {}, { type: "end" }, { ...end, bytes: -1 }, { ...end, cause: "?" }, { type: "toString" }, { ...stderr, text: 1 }];
    const meta = new MetaReader({ run: "r1", nonce: "n1" });
    const records = meta.push(Buffer.concat([file(start, ...bad), Buffer.from("{not json\n\0\0\n\n"), file(end)]));
    expect(records).toEqual([start, end]);
  });

  it.each([
    ["another nonce", { ...start, nonce: "n2" }],
    ["another run", { ...start, run: "r2" }],
  ])("ignores the records of %s", (_, other) => {
    const meta = new MetaReader({ run: "r1", nonce: "n1" });
    expect([meta.push(file(other, stderr, end)), meta.end]).toEqual([[], null]);
    expect(meta.push(file(start, end))).toEqual([start, end]);
    expect(meta.push(file(other, stderr, end))).toEqual([]);
  });

  it("ignores records before the first start record", () => {
    const meta = new MetaReader({ run: "r1", nonce: "n1" });
    expect([meta.push(file(end)), meta.end]).toEqual([[], null]);
  });

  it("ignores a line longer than any record", () => {
    const meta = new MetaReader({ run: "r1", nonce: null });
    expect(meta.push(file(start, { ...stderr, text: "x".repeat(2 * 1024 * 1024) }, end))).toEqual([start, end]);
  });
});
