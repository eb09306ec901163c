// Does an answer say that the run no longer owns what it writes to? Then nothing was carried out.
import { type Head, wordsOf } from "./head.ts";

const MAX_TEXT = 1024 * 1024;

export async function saysConflict(head: Head, body: readonly Buffer[], pattern: RegExp): Promise<boolean> {
  try {
    const bytes = Buffer.concat(body);
    const whole = wordsOf(head, "transfer-encoding").includes("chunked") ? joinChunks(bytes) : bytes;
    return pattern.test((await unpack(whole, wordsOf(head, "content-encoding").join())).toString());
  } catch {
    return false;
  }
}

/** Of a body that is known to be well-formed as far as it goes. */
function joinChunks(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const data = bytes.indexOf(10, at) + 1;
    const size = Number.parseInt(bytes.toString("latin1", at, data), 16);
    if (data === 0 || !(size > 0)) break;
    parts.push(bytes.subarray(data, data + size));
    at = bytes.indexOf(10, data + size) + 1 || bytes.length;
  }
  return Buffer.concat(parts);
}

async function unpack(bytes: Buffer, coding: string): Promise<Buffer> {
  if (coding === "" || coding === "identity") return bytes;
  const zlib = await import("node:zlib");
  const limit = { maxOutputLength: MAX_TEXT };
  return coding === "br" ? zlib.brotliDecompressSync(bytes, limit) : zlib.unzipSync(bytes, limit);
}
