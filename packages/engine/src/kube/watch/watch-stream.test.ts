import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineDecoder } from "./watch-stream.ts";

function decode(chunks: readonly Buffer[], limit?: number): unknown[] {
  const decoder = createLineDecoder(limit);
  return chunks.flatMap((chunk) => [...decoder(chunk)]);
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length));
}

test("the same values come out wherever the network cuts, also inside a character", () => {
  const text = fc.string({ unit: fc.constantFrom("a", '"', "\\", "\n", "\0", "é", "語", "🦊", "👩‍🚀", "\ud800"), maxLength: 10 });
  const values = fc.array(fc.dictionary(text, fc.oneof(fc.integer(), text)), { maxLength: 8 });
  fc.assert(
    fc.property(values, fc.array(fc.nat(), { maxLength: 20 }), (objects, cuts) => {
      // JSON cannot hold lone surrogates in UTF-8; what the wire gives is what must come out.
      const wire = Buffer.from(objects.map((object) => `${JSON.stringify(object)}\n`).join(""));
      const expected = wire
        .toString()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as unknown);
      expect(decode(cutAt(wire, cuts))).toEqual(expected);
    }),
  );
});

test("one byte at a time, with CRLF, empty lines and an unfinished end", () => {
  const wire = Buffer.from('{"a":"é🙂"}\r\n\n{"b":2}\n{"c":');
  expect(decode([...wire].map((byte) => Buffer.from([byte])))).toEqual([{ a: "é🙂" }, { b: 2 }]);
});

test("what comes before a line that is no JSON is a value", () => {
  const values: unknown[] = [];
  expect(() => {
    for (const value of createLineDecoder()(Buffer.from("1\n2\n{\n"))) values.push(value);
  }).toThrow("not JSON");
  expect(values).toEqual([1, 2]);
});

test("a line that is no JSON, or has no end, is an error that quotes nothing", () => {
  expect(() => decode([Buffer.from("secret\n")])).toThrow(/^a line of the stream is not JSON$/);
  expect(() => decode([Buffer.alloc(60), Buffer.alloc(60)], 100)).toThrow("longer than 100 bytes");
});
