// Sends a request to the target: what is kept of it, then the rest as it comes.
import { formatHead, type Head } from "./head.ts";
import type { Request } from "./read-request.ts";
import type { Wire } from "./wire.ts";

/** Not awaited: an answer may come before the target has taken the whole body. Failures show when the answer is read. */
export function send(request: Request, head: Head, upstream: Wire): void {
  pump(request, head, upstream).catch(() => {
    // A body that breaks off must not look whole.
    if (!request.rest.done) upstream.destroy();
  });
}

async function pump(request: Request, head: Head, upstream: Wire): Promise<void> {
  await upstream.write(Buffer.concat([formatHead(head), ...request.kept]));
  for (let chunk = await request.rest.read(); chunk; chunk = await request.rest.read()) await upstream.write(chunk);
}
