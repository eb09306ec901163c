// The beginning of a message's body: kept so that a request can be sent again, read to recognise an answer of conflict.
import type { IncomingMessage } from "node:http";

export interface BodyStart {
  readonly chunks: readonly Buffer[];
  /** It is the whole body; otherwise the message is paused where `chunks` ends. */
  readonly whole: boolean;
}

/** A longer text is no conflict. */
const MAX_TEXT = 1024 * 1024;

/** Rejects when the body breaks off. */
export function readStart(message: IncomingMessage, maxBytes: number): Promise<BodyStart> {
  // What is known to be too long is not held up.
  if (Number(message.headers["content-length"]) > maxBytes) return Promise.resolve({ chunks: [], whole: false });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (whole: boolean): void => {
      message.off("data", onData);
      resolve({ chunks, whole });
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= maxBytes) return;
      message.pause();
      settle(false);
    };
    message.on("data", onData);
    message.once("end", () => settle(true));
    message.once("error", reject);
    message.once("close", () => reject(new Error("closed")));
  });
}

/** Whether the answer says that the run does not own what it wanted to change: then nothing was carried out. */
export async function saysConflict({ headers }: IncomingMessage, body: BodyStart, pattern: RegExp): Promise<boolean> {
  if (!body.whole) return false;
  try {
    const bytes = Buffer.concat(body.chunks);
    return pattern.test((await unpack(bytes, (headers["content-encoding"] ?? "").toLowerCase())).toString());
  } catch {
    return false;
  }
}

async function unpack(bytes: Buffer, coding: string): Promise<Buffer> {
  if (coding === "" || coding === "identity") return bytes;
  const zlib = await import("node:zlib");
  const limit = { maxOutputLength: MAX_TEXT };
  return coding === "br" ? zlib.brotliDecompressSync(bytes, limit) : zlib.unzipSync(bytes, limit);
}
