// Which headers of a request and of its answer are passed on, and in whose name a request is sent.
import type { IncomingMessage } from "node:http";
import type { RelayCredentials } from "../records.ts";
import type { RelayConfig } from "./read-relay.ts";

/** Names and values in turn, as `node:http` takes and gives them: spelling, order and repetition are kept. */
export type RawHeaders = readonly string[];

/** About one connection and not about the message; `expect` was answered by the relay itself. */
const PER_CONNECTION = ["connection", "keep-alive", "proxy-connection", "upgrade", "expect", "te"];

/** The token of a request that shows exactly one. */
export function bearerToken({ rawHeaders }: IncomingMessage, name: string): string {
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name.toLowerCase());
  return (values.length === 1 && /^bearer +(\S+)$/i.exec(values[0] ?? "")?.[1]) || "";
}

/** Only a request that has shown a token of this run is sent in its name; all others are passed on as they came. */
export function requestHeaders(request: IncomingMessage, config: RelayConfig, identity: RelayCredentials | null): RawHeaders {
  const { authorization, runId } = config.headers;
  const { headers, method = "" } = request;
  const further = Object.entries(identity?.headers ?? {}).filter(([name]) => headers[name.toLowerCase()] !== undefined);
  const kept = without(request, ["host", ...(identity ? [authorization, runId] : []), ...further.map(([name]) => name)]);
  const added = identity ? [authorization, `Bearer ${identity.token}`, runId, identity.runId, ...further.flat()] : [];
  const isUnframed = headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;
  // Node would send an empty body in chunks, which some servers take for one that is there.
  const empty = isUnframed && ["POST", "PUT", "PATCH"].includes(method) ? ["Content-Length", "0"] : [];
  return ["Host", config.target.authority, ...kept, ...added, ...empty, "Connection", "close"];
}

export const responseHeaders = (response: IncomingMessage): RawHeaders => without(response, []);

function without({ rawHeaders, headers }: IncomingMessage, names: readonly string[]): RawHeaders {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const framing = ["transfer-encoding", "content-length"];
  const dropped = new Set([
    ...PER_CONNECTION,
    ...named.filter((name) => !framing.includes(name)),
    ...names.map((name) => name.toLowerCase()),
  ]);
  return rawHeaders.filter((_, at) => !dropped.has(rawHeaders[at - (at % 2)]?.toLowerCase() ?? ""));
}
