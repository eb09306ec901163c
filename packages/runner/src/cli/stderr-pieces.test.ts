import fc from "fast-check";
import { expect, test } from "vitest";
import { StderrPieces } from "./stderr-pieces.ts";

const MIB = 1024 * 1024;

test("nothing is lost or cut inside a character, whatever the chunks", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("é🙂".repeat(3000), "line\n", "x", "\n", "€".repeat(2731)), { maxLength: 12 }),
      fc.array(fc.nat()),
      (parts, cuts) => {
        const bytes = Buffer.from(parts.join(""));
        const pieces = new StderrPieces();
        const texts: string[] = [];
        let from = 0;
        for (const cut of [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
          texts.push(...pieces.feed(bytes.subarray(from, cut)));
          from = Math.max(from, cut);
        }
        texts.push(...pieces.end());
        expect(texts.join("")).toBe(bytes.toString());
        for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8192);
        expect(pieces.dropped).toBe(0);
      },
    ),
  );
});

test("whole lines share a piece", () => {
  const pieces = new StderrPieces();
  expect(pieces.feed(Buffer.from("a\nb\nc"))).toEqual(["a\nb\n"]);
  expect(pieces.feed(Buffer.from("d\n"))).toEqual(["cd\n"]);
  expect(pieces.end()).toEqual([]);
});

test("a chunk that ends inside a character, exactly at a piece's size, halves nothing", () => {
  const bytes = Buffer.from("€".repeat(2731));
  const pieces = new StderrPieces();
  const texts = [...pieces.feed(bytes.subarray(0, 8192)), ...pieces.feed(bytes.subarray(8192)), ...pieces.end()];
  expect(texts.join("")).toBe("€".repeat(2731));
});

test("of too much, the beginning and the last words are kept, with a line between them that counts the rest", () => {
  fc.assert(
    fc.property(fc.integer({ min: 20_000, max: 30_000 }), fc.integer({ min: 1000, max: 300_000 }), (lines, size) => {
      const bytes = Buffer.from(
        `${Array.from({ length: lines }, (_, at) => `line ${at} ${"é".repeat(30)}\n`).join("")}Error: 529 overloaded`,
      );
      const pieces = new StderrPieces();
      const texts: string[] = [];
      for (let at = 0; at < bytes.length; at += size) texts.push(...pieces.feed(bytes.subarray(at, at + size)));
      texts.push(...pieces.end());
      const joined = Buffer.from(texts.join(""));
      const mark = Buffer.from(`… ${pieces.dropped} bytes left out\n`);
      const middle = joined.indexOf(mark);
      expect(joined.toString()).toMatch(/line \d+ é+\nError: 529 overloaded$/);
      // A character may be halved there.
      expect(joined.subarray(0, MIB - 3).equals(bytes.subarray(0, MIB - 3))).toBe(true);
      const tail = joined.subarray(middle + mark.length);
      expect(tail.equals(bytes.subarray(-tail.length))).toBe(true);
      expect(tail.toString()).toMatch(/^line /);
      expect(tail.length).toBeGreaterThan(60 * 1024);
      expect(MIB + pieces.dropped + tail.length).toBe(bytes.length);
    }),
    { numRuns: 8 },
  );
});

test("what fills the beginning and the end exactly is whole", () => {
  const bytes = Buffer.from("é".repeat((MIB + 64 * 1024) / 2));
  const pieces = new StderrPieces();
  expect([...pieces.feed(bytes), ...pieces.end()].join("")).toBe(bytes.toString());
  expect(pieces.dropped).toBe(0);
});
