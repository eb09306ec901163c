import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The part of the host's API that the adapter asks about runs. */
export interface HostApi {
  readonly port: number;
  /** How often it was asked so far. */
  readonly asked: number;
  /** The host has started this run. */
  started(runId: string): void;
  /** The host has stored this run's result. */
  ended(runId: string): void;
  close(): void;
}

/** A server of this process: it says of each run that it runs until its end is stored, alone or in the list of its company. */
export async function openHostApi(): Promise<HostApi> {
  const ended = new Set<string>();
  const live = new Set<string>();
  let asked = 0;
  const runOf = (id: string) => ({ id, status: ended.has(id) ? "succeeded" : "running", companyId: "bench" });
  const server = createServer((request, response) => {
    asked++;
    const id = /\/heartbeat-runs\/([^/?]+)/.exec(request.url ?? "")?.[1];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(id === undefined ? [...live].map(runOf) : runOf(decodeURIComponent(id))));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get asked() {
      return asked;
    },
    started: (runId) => void live.add(runId),
    ended: (runId) => {
      live.delete(runId);
      ended.add(runId);
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
