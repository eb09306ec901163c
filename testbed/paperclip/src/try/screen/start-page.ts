import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface StartPage {
  readonly url: string;
  stop(): Promise<void>;
}

/** The address to open first: whoever comes there starts something to watch, and is led to it. */
export async function openStartPage(startWork: () => Promise<string>): Promise<StartPage> {
  const server = createServer((request, response) => {
    if (request.url !== "/") return void response.writeHead(404).end();
    startWork().then(
      (location) => response.writeHead(302, { location, "cache-control": "no-store" }).end(),
      (error: unknown) => response.writeHead(503, { "content-type": "text/plain" }).end(`Paperclip does not answer: ${error}\n`),
    );
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    stop: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}
