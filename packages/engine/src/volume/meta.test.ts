import type { EndRecord, StartRecord } from "@paperclip-k8s/runner";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MetaReader } from "./meta.ts";

const at = "2026-01-01T00:00:00.000Z";
const start: StartRecord = { type: "start", at, run: "r1", nonce: "n1", pod: "p", runtime: "node 24" };
const end: EndRecord = {
  type: "end",
  at,
  exitCode: 0,
  signal: null,
  cause: "exit",
  bytes: 10,
  written: 10,
  lines: 1,
  oomKills: null,
  error: null,
  stderrDropped: 0,
  leftoversEnded: false,
  peakMemoryBytes: 1.5e6,
  memoryLimitBytes: null,
  cpuMs: 12.5,
};
const stderr = { type: "stderr", at, text: "é\n" } as const;
const file = (...records: readonly unknown[]): Buffer => Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));

describe("MetaReader", () => {
  it("gives the records in order, however the bytes are cut", () => {
    const bytes = file(start, { type: "cli-started", at, pid: 7 }, stderr, { type: "note", at, text: "n" }, end);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 80 }), (size) => {
        const meta = new MetaReader({ run: "r1", nonce: "n1" });
        const types: string[] = [];
        for (let i = 0; i < bytes.length; i += size) types.push(...meta.push(bytes.subarray(i, i + size)).map((record) => record.type));
        expect(types).toEqual(["start", "cli-started", "stderr", "note", "end"]);
        expect([meta.start, meta.end, meta.garbage, meta.foreign]).toEqual([start, end, 0, 0]);
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

  it("counts what is no record and goes on", () => {
    const bad = [null, 1, {}, { type: "end" }, { ...end, bytes: -1 }, { ...end, cause: "?" }, { type: "toString" }, { ...stderr, text: 1 }];
    const meta = new MetaReader({ run: "r1", nonce: "n1" });
    const records = meta.push(Buffer.concat([file(start, ...bad), Buffer.from("{not json\n\0\0\n\n"), file(end)]));
    expect(records.map((record) => record.type)).toEqual(["start", "end"]);
    expect(meta.garbage).toBe(bad.length + 3);
  });

  it.each([
    ["another nonce", { ...start, nonce: "n2" }],
    ["another run", { ...start, run: "r2" }],
  ])("ignores the records of %s", (_, other) => {
    const meta = new MetaReader({ run: "r1", nonce: "n1" });
    expect(meta.push(file(other, stderr, end))).toEqual([]);
    expect([meta.start, meta.end, meta.foreign]).toEqual([null, null, 3]);
    expect(meta.push(file(start, end)).length).toBe(2);
  });

  it("ignores records before the first one", () => {
    const meta = new MetaReader({ run: "r1", nonce: "n1" });
    expect(meta.push(file(end))).toEqual([]);
    expect([meta.end, meta.garbage]).toEqual([null, 1]);
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.json(), fc.string()), { maxLength: 10 }), (lines) => {
        new MetaReader({ run: "r1", nonce: null }).push(Buffer.from(`${lines.join("\n")}\n`));
      }),
    );
    const meta = new MetaReader({ run: "r1", nonce: null });
    for (let i = 0; i < 40; i++) meta.push(Buffer.alloc(64 * 1024, "x"));
    meta.push(Buffer.from("\n"));
    expect(meta.garbage).toBe(1);
  });
});
