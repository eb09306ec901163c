import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Report } from "../orders.ts";

/** A request that reached the stand-in for the host's API. */
export interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly authorization: string;
  readonly host: string;
  readonly runId: string;
}

/** The test's server that pods reach: gates, reports, and under /api/ whatever comes through the relay. */
export interface Listener {
  readonly url: string;
  readonly arrived: Arrived[];
  /** Reports of a run's attacks, in order. */
  readonly reports: Report[];
  open(gate: string): void;
  stop(): Promise<void>;
}

export async function startListener(host: string): Promise<Listener> {
  const arrived: Arrived[] = [];
  const reports: Report[] = [];
  const gates = new Map<string, { isOpen: boolean; waiting: ServerResponse[] }>();
  const gateOf = (name: string) => {
    const gate = gates.get(name) ?? { isOpen: false, waiting: [] };
    gates.set(name, gate);
    return gate;
  };
  const server = createServer((request, response) => {
    const { method = "", url = "", headers } = request;
    if (url.startsWith("/gate/")) {
      const gate = gateOf(url.slice("/gate/".length));
      if (gate.isOpen) response.end("open");
      else gate.waiting.push(response);
      return;
    }
    if (url === "/report") {
      void bodyOf(request).then((text) => {
        reports.push(JSON.parse(text) as Report);
        response.end("{}");
      });
      return;
    }
    const { authorization = "", host = "", "x-paperclip-run-id": runId = "" } = headers;
    arrived.push({ method, url, authorization, host, runId: String(runId) });
    request.resume().on("end", () => response.end("{}"));
  });
  server.on("clientError", (_, socket) => socket.destroy());
  server.listen(0, host);
  await once(server, "listening");
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    arrived,
    reports,
    open: (name) => {
      const gate = gateOf(name);
      gate.isOpen = true;
      for (const response of gate.waiting.splice(0)) response.end("open");
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece;
  return text;
}
