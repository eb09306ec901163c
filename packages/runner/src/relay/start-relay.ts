// The API relay: listens on loopback while the CLI runs, and passes its requests on as whoever the run is at that time.
import { createServer, type Server, type Socket } from "node:net";
import { answer, type Relaying, type Tally } from "./answer.ts";
import { Credentials } from "./credentials.ts";
import { formatHead, Problem } from "./head.ts";
import type { RelayConfig } from "./read-relay.ts";
import { readRequest } from "./read-request.ts";
import { relayEnv } from "./relay-env.ts";
import { TargetConnector } from "./target.ts";
import { Wire } from "./wire.ts";

export interface Relay {
  /** For the CLI: the relay's URL, or the target's own where the relay cannot listen, and exceptions from proxies. */
  readonly env: Readonly<Record<string, string>>;
  /** Cuts all connections and says what is worth a note. */
  readonly close: () => string[];
}

/** Never rejects: without a relay the CLI reaches the target by itself. */
export async function startRelay(order: RelayConfig, env: NodeJS.ProcessEnv, note: (text: string) => void): Promise<Relay> {
  const credentials = new Credentials(order.credentialsFile, env[order.tokenEnv]);
  credentials.onSwap = (runId) => note(`now acting as run ${runId}`);
  const tally: Tally = { conflicts: 0, reconnects: 0, failures: 0, lastFailure: "" };
  const relaying: Relaying = { order, credentials, tally, target: new TargetConnector(order.target, env) };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    serve(new Wire(socket), relaying).catch(() => socket.destroy());
  });
  const listening = await listen(server);
  if (typeof listening === "string")
    return { env: relayEnv(env, order.urlEnv, order.targetUrl), close: () => [`no relay: cannot listen (${listening})`] };
  const close = (): string[] => {
    server.close();
    for (const socket of sockets) socket.destroy();
    return story(tally);
  };
  return { env: relayEnv(env, order.urlEnv, `http://127.0.0.1:${listening}${order.target.path}`), close };
}

/** The port, or why there is none. */
function listen(server: Server): Promise<number | string> {
  return new Promise((resolve) => {
    // Stays for later errors: a connection that cannot be accepted is the client's trouble only.
    server.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown error"));
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
}

async function serve(client: Wire, relaying: Relaying): Promise<void> {
  while (await serveOne(client, relaying));
  client.finish();
}

async function serveOne(client: Wire, relaying: Relaying): Promise<boolean> {
  try {
    const request = await readRequest(client, relaying.order.maxReplayBytes);
    return request !== null && (await answer(request, client, relaying));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 502 && !client.isGone) {
      relaying.tally.failures++;
      relaying.tally.lastFailure = error.message;
    }
    await client.write(problemAnswer(error));
    return false;
  }
}

const REASONS: Readonly<Record<number, string>> = { 400: "Bad Request", 405: "Method Not Allowed", 431: "Request Header Fields Too Large" };

function problemAnswer(problem: Problem): Buffer {
  const body = Buffer.from(JSON.stringify({ error: `relay: ${problem.message}` }));
  const first = `HTTP/1.1 ${problem.status} ${REASONS[problem.status] ?? "Bad Gateway"}`;
  const headers = [
    ["Content-Type", "application/json"] as const,
    ["Content-Length", `${body.length}`] as const,
    ["Connection", "close"] as const,
  ];
  return Buffer.concat([formatHead({ first, headers }), body]);
}

function story(tally: Tally): string[] {
  const { conflicts, reconnects, failures, lastFailure } = tally;
  return [
    ...(conflicts > 0 ? [`relay: ${conflicts} answers of conflict were not passed on but the request sent again`] : []),
    ...(reconnects > 0 ? [`relay: ${reconnects} refused connections were tried again`] : []),
    ...(failures > 0 ? [`relay: ${failures} requests failed, the last one: ${lastFailure}`] : []),
  ];
}
