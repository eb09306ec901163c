import fc from "fast-check";
import { expect, test } from "vitest";
import { MAC_BYTES, openSigned, sign } from "./mac.ts";

const key = Buffer.alloc(32, 1);
const json = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }).map((value) => JSON.stringify(value));

test("what was signed is read as it was, and is still JSON", () => {
  fc.assert(
    fc.property(json, (text) => {
      const line = sign(text, key);
      expect(openSigned(Buffer.from(line), key)?.toString()).toBe(text);
      expect(JSON.parse(line)).toMatchObject({ mac: expect.stringMatching(/^[\w-]{43}$/) });
      expect(Buffer.byteLength(line) - Buffer.byteLength(text)).toBe(MAC_BYTES);
    }),
  );
});

test("one changed byte, another key, or no MAC: it is nobody's", () => {
  fc.assert(
    fc.property(json, fc.nat(), fc.integer({ min: 1, max: 255 }), (text, place, change) => {
      const line = Buffer.from(sign(text, key));
      expect(openSigned(line, Buffer.alloc(32, 2))).toBeNull();
      expect(openSigned(Buffer.from(text), key)).toBeNull();
      line[place % line.length] = (line[place % line.length] ?? 0) ^ change;
      expect(openSigned(line, key)).toBeNull();
    }),
  );
});

test("whatever the bytes are, reading does not throw", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => openSigned(Buffer.from(bytes), key) === null));
});
