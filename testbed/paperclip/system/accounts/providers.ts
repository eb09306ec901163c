import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createProxy, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Llm } from "@paperclip-k8s/llm";

/** Where the providers of the accounts really are; the host refuses any other address beside an account. */
const HOSTS = ["api.anthropic.com", "openrouter.ai"];
/** What the host asks of a key before it keeps it. */
const KEY_CHECKS = ["/v1/models", "/api/oauth/usage", "/api/v1/key"];

/** The providers on this machine: a proxy that answers for their names, with the scripted model behind it. Nothing leaves the machine. */
export interface Providers {
  /** For the server and for agents. */
  readonly env: Readonly<Record<string, string>>;
  /** The turns that arrived, each with its credential. */
  readonly turns: readonly { readonly host: string; readonly key: string }[];
  stop(): Promise<void>;
}

export async function startProviders(llm: () => Llm): Promise<Providers> {
  const folder = mkdtempSync(join(tmpdir(), "providers-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = ["-subj", "/CN=providers", "-addext", `subjectAltName=${HOSTS.map((host) => `DNS:${host}`).join(",")}`];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...names], {
    stdio: "ignore",
  });
  const turns: { host: string; key: string }[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { headers, url = "", method } = request;
    const isCheck = KEY_CHECKS.includes(url.split("?")[0] ?? "");
    if (isCheck) return void response.writeHead(200, { "content-type": "application/json" }).end("{}");
    if (/\/(messages|chat\/completions)(\?|$)/.test(url)) turns.push({ host: headers.host ?? "", key: keyOf(headers) });
    const passed = httpRequest(`${llm().url}${url}`, { method, headers }, (from) => {
      response.writeHead(from.statusCode ?? 502, from.headers);
      from.pipe(response);
    });
    passed.on("error", () => response.destroy());
    request.pipe(passed);
  };
  const providers = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, answer);
  const proxy = createProxy((_, response) => response.writeHead(502).end());
  proxy.on("connect", ({ url = "" }, socket) => {
    socket.on("error", () => {});
    if (!HOSTS.includes(url.replace(/:443$/, ""))) return socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    providers.emit("connection", socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    env: { HTTPS_PROXY, NO_PROXY: "127.0.0.1,localhost", NODE_EXTRA_CA_CERTS: cert, NODE_USE_ENV_PROXY: "1" },
    turns,
    async stop() {
      providers.closeAllConnections();
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const keyOf = (headers: IncomingMessage["headers"]): string =>
  [headers["x-api-key"], headers.authorization].filter((value) => value !== undefined).join(" and ");
