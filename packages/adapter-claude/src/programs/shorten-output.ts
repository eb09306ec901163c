/** Keys whose values are data or names, and are not shortened. */
const UNTOUCHED = new Set(["base64", "data", "filePath", "file_path", "signature"]);

/** A tool's output with each text cut to `maxBytes`, head and tail kept; undefined when nothing had to be cut. The shape stays: the CLI checks it. */
export function shorten(output: unknown, maxBytes: number): unknown {
  let cut = false;
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") {
      const short = shortenText(value, maxBytes);
      if (short !== value) cut = true;
      return short;
    }
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, UNTOUCHED.has(key) ? item : walk(item)]));
  };
  const short = walk(output);
  return cut ? short : undefined;
}

/** Two thirds of what is kept stand before the cut: the beginning shows what it is, the end how it went. */
export function shortenText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const head = wholeCharacters(bytes.subarray(0, Math.ceil((maxBytes * 2) / 3)));
  const tail = wholeCharacters(bytes.subarray(bytes.length - Math.floor(maxBytes / 3)));
  const lost = bytes.length - head.length - tail.length;
  return `${head}\n\n[… ${lost} of ${bytes.length} bytes of this output were cut here to keep it short …]\n\n${tail}`;
}

/** A cut may go through a character of several bytes: its rest is dropped. */
function wholeCharacters(bytes: Buffer): Buffer {
  let from = 0;
  while (from < bytes.length && (bytes[from]! & 0xc0) === 0x80) from += 1;
  let to = bytes.length;
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (needed > back) to = bytes.length - back;
    break;
  }
  return bytes.subarray(from, to);
}
