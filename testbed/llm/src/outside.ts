import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What lies beyond the machine, for a CLI that takes the proxy of its environment: it notes who is asked for, and refuses. */
export interface Outside {
  /** For the CLI's environment; this machine itself is reached directly. */
  readonly env: Readonly<Record<string, string>>;
  /** Host names, once for each request. */
  readonly asked: readonly string[];
  stop(): Promise<void>;
}

export async function startOutside(): Promise<Outside> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(URL.canParse(request.url ?? "") ? new URL(request.url!).hostname : (request.headers.host ?? "?"));
    response.writeHead(502).end();
  });
  server.on("connect", ({ url = "" }, socket) => {
    asked.push(url.replace(/:\d+$/, ""));
    // A client that does not wait for the answer is nobody's fault.
    socket.on("error", () => {});
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map((name) => [name, proxy]);
  const env = { ...Object.fromEntries(names), NO_PROXY: "127.0.0.1,localhost", no_proxy: "127.0.0.1,localhost" };
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { env, asked, stop };
}
