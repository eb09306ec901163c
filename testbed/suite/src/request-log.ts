import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import type { ClientRequest, IncomingMessage } from "node:http";

/** The requests of this process to one API server, watches apart. */
export interface RequestLog {
  /** How many were begun, by what they ask for: `PATCH jobs`. */
  begun(): Readonly<Record<string, number>>;
  /** The same without those that were answered with a conflict: what was carried out, if nothing broke off. */
  accepted(): Readonly<Record<string, number>>;
  /** How many of all broke off, by a lost connection or the client's own time limit: the product may ask again then. */
  broken(): number;
  stop(): void;
}

/** `kubeconfig`: names the API server; other files of a worker may still be at work on theirs. */
export function logRequests(kubeconfig: string): RequestLog {
  const server = /"?server"?: ?"?https?:\/\/([^"\s]+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1] ?? "";
  const begun: Record<string, number> = {};
  const conflicts: Record<string, number> = {};
  let broken = 0;
  const onStart = (message: unknown) => {
    const what = whatOf(message, server);
    if (what !== null) begun[what] = (begun[what] ?? 0) + 1;
  };
  const onAnswer = (message: unknown) => {
    const what = whatOf(message, server);
    const { statusCode } = (message as { readonly response: IncomingMessage }).response;
    if (what !== null && statusCode === 409) conflicts[what] = (conflicts[what] ?? 0) + 1;
  };
  const onError = (message: unknown) => {
    if (whatOf(message, server) !== null) broken++;
  };
  subscribe("http.client.request.start", onStart);
  subscribe("http.client.response.finish", onAnswer);
  subscribe("http.client.request.error", onError);
  return {
    begun: () => ({ ...begun }),
    accepted: () => Object.fromEntries(Object.entries(begun).map(([what, count]) => [what, count - (conflicts[what] ?? 0)])),
    broken: () => broken,
    stop: () => {
      unsubscribe("http.client.request.start", onStart);
      unsubscribe("http.client.response.finish", onAnswer);
      unsubscribe("http.client.request.error", onError);
    },
  };
}

function whatOf(message: unknown, server: string): string | null {
  const { request } = message as { readonly request: ClientRequest };
  const { method, path } = request;
  return path.includes("watch=true") || request.getHeader("host") !== server
    ? null
    : `${method} ${/\/(jobs|pods|secrets|events)\b/.exec(path)?.[1] ?? "others"}`;
}
