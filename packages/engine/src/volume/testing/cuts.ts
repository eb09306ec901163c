import fc from "fast-check";

const pieces: readonly (readonly number[])[] = [
  [0x0a],
  [0x0a],
  [0x0d, 0x0a],
  [0x61],
  [0x62, 0x63, 0x64],
  [0x00],
  [0xef, 0xbb, 0xbf],
  [...Buffer.from("é")],
  [...Buffer.from("語")],
  [...Buffer.from("🦊")],
  [0xff],
  [0xc3],
  [0xe8, 0xaa],
  [0xf0, 0x9f, 0xa6],
  [0xed, 0xa0, 0x80],
  [0x80],
];

/** Bytes with newlines, NULs, characters of every length, broken ones and noise, cut at random places. */
export function cuts(maxPieces = 60): fc.Arbitrary<Buffer[]> {
  const piece = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...pieces) },
    { weight: 1, arbitrary: fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 8 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 }).map((size) => new Array<number>(size).fill(0x78)) },
  );
  const bytes = fc.array(piece, { maxLength: maxPieces }).map((list) => Buffer.from(list.flat()));
  return fc.tuple(bytes, fc.array(fc.nat(), { maxLength: 20 })).map(([whole, places]) => {
    const at = places.map((place) => (whole.length === 0 ? 0 : place % whole.length)).sort((a, b) => a - b);
    return [...at, whole.length].map((end, index) => whole.subarray(at[index - 1] ?? 0, end));
  });
}
