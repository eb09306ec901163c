import type http from "node:http";
import type { IncomingMessage } from "node:http";
import { systemClock } from "../clock.ts";
import { ApiError, isUnauthorized, isUnusableCertificate } from "./api-error.ts";
import { type ConnectOptions, Credentials } from "./credentials.ts";
import { type ApiRequest, type ApiResponse, Exchange, type HttpProtocol, labelOf } from "./exchange.ts";
import { Pace } from "./pace.ts";
import { readAnswer } from "./read-answer.ts";
import { ServerHealth } from "./server-health.ts";

const defaultTimeoutMs = 15_000;
/** 500 runs that are adopted after a restart need about 2,000 requests: spread over seconds. */
const PACE = { perSecond: 250, burst: 100 };
const connections = new Map<string, Promise<Connection>>();

/** The connection for these options: the same object for all runs. */
export function connect(options: ConnectOptions): Promise<Connection> {
  const id = `${options.kubeconfig ?? "in-cluster"}#${options.context ?? ""}`;
  const known = connections.get(id);
  if (known) return known;
  const opening = open(id, options);
  connections.set(id, opening);
  // A kubeconfig that could not be loaded may be there at the next try.
  opening.catch(() => connections.delete(id));
  return opening;
}

/** Node's HTTP modules are half of what an import of this package would cost: they come with the first connection. */
async function open(id: string, options: ConnectOptions): Promise<Connection> {
  const credentials = await Credentials.load(options);
  const protocol = credentials.server.protocol === "http:" ? await import("node:http") : await import("node:https");
  return new Connection(id, credentials, protocol);
}

export class Connection {
  readonly #id: string;
  /** URL of the API server, without credentials. */
  readonly server: string;
  /** This machine's end of the last connection that was answered: in a cluster the address at which pods reach this process. */
  localAddress: string | null = null;
  readonly #credentials: Credentials;
  readonly #protocol: HttpProtocol;
  readonly #close = new AbortController();
  /** Aborted by `close`. */
  readonly closed = this.#close.signal;
  readonly #requests: http.Agent;
  // Watches hold their socket for minutes: in the same bounded pool they would starve the requests.
  readonly #streams: http.Agent;
  readonly #pace = new Pace(PACE);
  readonly health = new ServerHealth(systemClock, () => this.#requestOnce({ method: "GET", path: "/version", background: true }));

  constructor(id: string, credentials: Credentials, protocol: HttpProtocol) {
    this.#id = id;
    this.#protocol = protocol;
    this.#credentials = credentials;
    this.server = credentials.server.origin + credentials.server.pathname.replace(/\/$/, "");
    const { Agent } = protocol;
    // Idle sockets are dropped well before an API server (90 s) or a load balancer (60 s) drops them under a request.
    const common = { keepAlive: true, keepAliveMsecs: 30_000, timeout: 30_000, scheduling: "lifo" } as const;
    this.#requests = new Agent({ ...common, maxSockets: 32, maxFreeSockets: 32 });
    this.#streams = new Agent({ ...common, maxFreeSockets: 2 });
  }

  /** One try; `sendRequest` adds the retries. */
  request<T>(req: ApiRequest): Promise<ApiResponse<T>> {
    return this.#renewing(() => this.#requestOnce<T>(req));
  }

  /** The open answer of a watch; its socket does not keep the process alive. */
  openStream(req: ApiRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const background = { ...req, background: true, signal };
    return this.#renewing(() => this.#openOnce(background));
  }

  close(): void {
    if (this.#close.signal.aborted) return;
    connections.delete(this.#id);
    this.#close.abort();
    this.#requests.destroy();
    this.#streams.destroy();
  }

  async #requestOnce<T>(req: ApiRequest): Promise<ApiResponse<T>> {
    // The lists that watches begin with are few, and everything waits for them.
    if (!req.background) await this.#pace.wait(req.priority ?? (req.method === "DELETE" ? "first" : "usual"), this.#outside(req));
    const exchange = this.#exchange(req);
    try {
      const response = await this.#send(exchange, this.#requests);
      const answer = await readAnswer<T>(req, response);
      exchange.finish();
      return answer;
    } catch (error) {
      throw exchange.failure(error);
    }
  }

  async #openOnce(req: ApiRequest): Promise<IncomingMessage> {
    const exchange = this.#exchange(req);
    try {
      const response = await this.#send(exchange, this.#streams);
      if (response.statusCode !== 200) {
        const { status } = await readAnswer(req, response);
        throw new ApiError("api_bad_answer", `${labelOf(req)}: ${status} instead of a stream`, { httpStatus: status });
      }
      exchange.clearTimeout();
      // An error while nothing listens must not become an uncaught exception.
      response.on("error", () => {});
      response.once("close", () => exchange.finish());
      return response;
    } catch (error) {
      throw exchange.failure(error);
    }
  }

  #exchange(req: ApiRequest): Exchange {
    return new Exchange(req, req.timeoutMs ?? defaultTimeoutMs, this.#outside(req));
  }

  #outside({ signal }: ApiRequest): readonly AbortSignal[] {
    return signal ? [this.#close.signal, signal] : [this.#close.signal];
  }

  async #send(exchange: Exchange, agent: http.Agent): Promise<IncomingMessage> {
    const options = await exchange.within(this.#credentials.requestOptions());
    const settled = this.health.sent();
    try {
      const response = await exchange.open(
        this.#protocol,
        this.#credentials.server,
        this.#credentials.proxied ? options : { ...options, agent },
      );
      settled();
      this.health.heard();
      this.localAddress = response.socket?.localAddress ?? this.localAddress;
      return response;
    } catch (error) {
      // A request that timed out counts as unanswered.
      if (!exchange.timedOut) settled();
      throw error;
    }
  }

  /** A 401, and a certificate that does not fit its key, changed nothing: once more with fresh credentials is safe, also for a mutation. */
  async #renewing<R>(attempt: () => Promise<R>): Promise<R> {
    const { generation } = this.#credentials;
    try {
      return await attempt();
    } catch (error) {
      const isRefused = isUnauthorized(error) && error.httpStatus !== null;
      if (!(isRefused || isUnusableCertificate(error)) || !(await this.#credentials.renew(generation))) throw error;
      return attempt();
    }
  }
}
