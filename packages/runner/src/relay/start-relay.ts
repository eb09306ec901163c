// The API relay: listens on loopback while the CLI runs, and passes its requests on in the name of the run that the Secret names at that time.
import type { Server as HttpServer, ServerResponse } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { connector } from "./connect.ts";
import { readCredentials } from "./credentials.ts";
import { handleRequest, MAX_HEAD, Problem, type RelayCounts, type Relaying } from "./handle-request.ts";
import type { RelayConfig } from "./read-relay.ts";

export interface Relay {
  /** For the CLI: the relay's URL, or the target's own where the relay cannot listen, and exceptions from proxies. */
  readonly env: Readonly<Record<string, string>>;
  /** Cuts all connections; what is worth a note. */
  readonly close: () => string[];
}

/** Never rejects: without a relay the CLI reaches the target by itself. */
export async function startRelay(config: RelayConfig, env: NodeJS.ProcessEnv, note: (text: string) => void): Promise<Relay> {
  const onSwap = (runId: string): void => note(`now acting as run ${runId}`);
  const credentials = readCredentials(config.credentialsFile, env[config.tokenEnv], onSwap);
  const counts: RelayCounts = { conflicts: 0, reconnects: 0, failures: 0, lastFailure: "" };
  const connect = connector(config.target, env);
  let http: Promise<HttpServer> | null = null;
  const sockets = new Set<Socket>();
  // Only the port is needed before the CLI's start: the part that understands HTTP is loaded for the first connection.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    http ??= createHttp({ config, credentials, counts, connect });
    void http.then((loaded) => loaded.emit("connection", socket));
  });
  const listening = await listen(server);
  const failed = typeof listening === "string";
  const close = (): string[] => {
    server.close();
    for (const socket of sockets) socket.destroy();
    return summary(counts);
  };
  return {
    env: relayEnv(env, config.urlEnv, failed ? config.targetUrl : `http://127.0.0.1:${listening}${config.target.path}`),
    close: failed ? () => [`no relay: cannot listen (${listening})`] : close,
  };
}

async function createHttp(relaying: Omit<Relaying, "http">): Promise<HttpServer> {
  const http = await import("node:http");
  // No time limits: neither a slow upload nor an idle connection of the CLI is a fault.
  const limits = { maxHeaderSize: MAX_HEAD, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 };
  const server = http.createServer(limits, (request, response) => {
    handleRequest(request, response, { ...relaying, http }).catch((error) => answerProblem(response, error, relaying.counts));
  });
  // The server gives such a socket away, and an error that nobody listens to would end the run.
  server.on("connect", (_request, socket) => socket.on("error", () => {}).end(NO_TUNNEL));
  return server;
}

const NO_TUNNEL = `HTTP/1.1 405 Method Not Allowed\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n${problemBody("this is no proxy: CONNECT is refused")}`;

/** The port, or why there is none. */
function listen(server: Server): Promise<number | string> {
  return new Promise((resolve) => {
    // Stays for later errors: a connection that cannot be accepted is the client's problem only.
    server.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown error"));
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
}

function answerProblem(response: ServerResponse, error: unknown, counts: RelayCounts): void {
  if (response.destroyed || !(error instanceof Problem)) return void response.destroy();
  if (error.status === 502) {
    counts.failures++;
    counts.lastFailure = error.message;
  }
  const body = problemBody(error.message);
  response.writeHead(error.status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body), Connection: "close" });
  response.end(body);
}

function problemBody(text: string): string {
  return JSON.stringify({ error: `relay: ${text}` });
}

function summary({ conflicts, reconnects, failures, lastFailure }: RelayCounts): string[] {
  return [
    ...(conflicts > 0 ? [`relay: ${conflicts} answers of conflict were not passed on but the request sent again`] : []),
    ...(reconnects > 0 ? [`relay: ${reconnects} refused connections were tried again`] : []),
    ...(failures > 0 ? [`relay: ${failures} requests failed, the last one: ${lastFailure}`] : []),
  ];
}

const PROXIES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const LOOPBACK = ["127.0.0.1", "localhost"];

export function relayEnv(env: NodeJS.ProcessEnv, urlEnv: string, url: string): Record<string, string> {
  return { [urlEnv]: url, ...(PROXIES.some((name) => env[name]) ? proxyExceptions(env) : {}) };
}

/** Tools differ in which spelling they read; where one is missing it must not hide the other's exceptions. */
function proxyExceptions(env: NodeJS.ProcessEnv): Record<string, string> {
  const { NO_PROXY: upper, no_proxy: lower } = env;
  return { NO_PROXY: withLoopback(upper || lower), no_proxy: withLoopback(lower || upper) };
}

function withLoopback(list = ""): string {
  const hosts = list.split(/[\s,]+/).filter((host) => host !== "");
  return hosts.includes("*") ? list : [...hosts, ...LOOPBACK.filter((host) => !hosts.includes(host))].join(",");
}
