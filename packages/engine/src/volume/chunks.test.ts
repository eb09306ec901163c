import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TextChunks } from "./chunks.ts";
import { cuts } from "./testing/cuts.ts";

function chunked(parts: readonly Buffer[], limit?: number): string[] {
  const chunks = new TextChunks(limit === undefined ? {} : { limit });
  return [...parts.flatMap((part) => chunks.push(part)), ...chunks.flush()];
}

describe("TextChunks", () => {
  it("packs whole lines and holds an unterminated one back until the end", () => {
    const chunks = new TextChunks();
    expect(chunks.push(Buffer.from("one\ntwo\nthr"))).toEqual(["one\ntwo\n"]);
    expect(chunks.push(Buffer.from("ee"))).toEqual([]);
    expect(chunks.flush()).toEqual(["three"]);
    expect(chunks.flush()).toEqual([]);
  });

  it("loses and adds nothing, whatever the bytes and the cuts", () => {
    fc.assert(
      fc.property(cuts(), fc.integer({ min: 4, max: 40 }), (parts, limit) => {
        const whole = Buffer.concat(parts).toString();
        const chunks = chunked(parts, limit);
        expect(chunks.join("")).toBe(whole);
        for (const chunk of chunks) {
          expect(chunk).not.toBe("");
          expect(Buffer.byteLength(chunk)).toBeLessThanOrEqual(limit);
          expect(chunk.isWellFormed()).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("cuts inside a line only if the line does not fit", () => {
    fc.assert(
      fc.property(cuts(), fc.integer({ min: 4, max: 40 }), (parts, limit) => {
        const long = Buffer.concat(parts)
          .toString()
          .split(/(?<=\n)/)
          .filter((line) => Buffer.byteLength(line) > limit);
        for (const chunk of chunked(parts, limit).slice(0, -1)) {
          const last = chunk.split(/(?<=\n)/).at(-1) ?? "";
          expect(last.endsWith("\n") || long.some((line) => line.includes(last))).toBe(true);
        }
      }),
    );
  });

  it("gives a 5 MB line in chunks of 8 KiB", () => {
    const line = `${"é🦊x".repeat(750_000)}\n`;
    const bytes = Buffer.from(line);
    const parts = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, i) => bytes.subarray(i * 65_536, (i + 1) * 65_536));
    const chunks = chunked(parts);
    expect(chunks.join("") === line).toBe(true);
    expect(Math.max(...chunks.map((chunk) => Buffer.byteLength(chunk)))).toBeLessThanOrEqual(8192);
    expect(chunks.length).toBeLessThan(700);
  });

  it("replaces invalid bytes and keeps their neighbours", () => {
    expect(chunked([Buffer.from([0x61, 0xff, 0x62, 0xe8]), Buffer.from([0x0a, 0x63])]).join("")).toBe("a\ufffdb\ufffd\nc");
  });
});
