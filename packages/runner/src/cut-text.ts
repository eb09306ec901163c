// Cuts text to a number of UTF-8 bytes without cutting a character.

export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes ? bytes.toString() : bytes.subarray(0, boundaryBefore(bytes, maxBytes)).toString();
}

/** The last offset ≤ `offset` at which no UTF-8 sequence is cut; bytes that are no UTF-8 are cut anywhere. */
export function boundaryBefore(bytes: Buffer, offset: number): number {
  if (offset >= bytes.length) return bytes.length;
  for (let at = offset; at > 0 && at > offset - 4; at--) {
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at;
  }
  return offset;
}
