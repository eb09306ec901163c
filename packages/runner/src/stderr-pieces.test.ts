import fc from "fast-check";
import { expect, test } from "vitest";
import { StderrPieces } from "./stderr-pieces.ts";

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
