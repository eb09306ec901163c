import type { IncomingMessage } from "node:http";
import type { AuditEntry } from "./audit.ts";
import { tooLarge } from "./status.ts";

const bodyLimit = 3 * 1024 * 1024;

// The whole body is read even when it is too large, so that the client gets the answer instead of a reset connection.
export async function readBody(request: IncomingMessage, entry: AuditEntry): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    entry.bodyBytes += (chunk as Buffer).length;
    if (entry.bodyBytes <= bodyLimit) chunks.push(chunk as Buffer);
  }
  if (entry.bodyBytes > bodyLimit) throw tooLarge(bodyLimit);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
}
