import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerAnthropic, anthropicError } from "./anthropic.ts";
import { type Conversation, readConversation, type WireBody, type WireMessage } from "./conversation.ts";
import { answerOpenai, openaiError } from "./openai.ts";
import { sendJson, startStream, type Turn } from "./respond.ts";
import { chooseReply, errorOfSettings, type Reply } from "./script.ts";
import { anthropicUsage } from "./usage.ts";

export interface LlmOptions {
  /** Address to listen on; 0.0.0.0 when pods in other network namespaces must reach it. */
  readonly host?: string;
  readonly port?: number;
  /** Asked first; null = the words of the usual script decide. */
  readonly script?: (conversation: Conversation) => Reply | null;
  /** Called for each request as it arrives. */
  readonly onRequest?: (request: LlmRequest) => void;
}

/** What a CLI really sent. */
export interface LlmRequest {
  readonly method: string;
  readonly path: string;
  readonly apiKey: string;
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly messages: readonly WireMessage[];
  readonly userTexts: readonly string[];
  readonly tools: number;
  readonly toolNames: readonly string[];
  /** The part of the script that was played; undefined for requests that are no turn. */
  readonly reply?: Reply["kind"];
}

export interface Llm {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly LlmRequest[];
  stop(): Promise<void>;
}

interface Wire {
  readonly answer: (turn: Turn) => Promise<void>;
  readonly error: (type: string, message: string) => object;
  readonly overloadedStatus: number;
}

const openai: Wire = { answer: answerOpenai, error: openaiError, overloadedStatus: 503 };
const anthropic: Wire = { answer: answerAnthropic, error: anthropicError, overloadedStatus: 529 };

async function readBody(request: IncomingMessage): Promise<WireBody> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? {} : (JSON.parse(text) as WireBody);
}

function apiKeyOf({ headers }: IncomingMessage): string {
  return String(headers["x-api-key"] ?? headers.authorization ?? "").replace(/^Bearer /, "");
}

function wireOf(path: string): Wire | undefined {
  if (path.endsWith("/chat/completions")) return openai;
  return path.endsWith("/messages") ? anthropic : undefined;
}

async function play(wire: Wire, reply: Reply, turn: Omit<Turn, "answer">): Promise<void> {
  const { response } = turn;
  switch (reply.kind) {
    case "hang":
      return;
    case "drop":
      startStream(response);
      response.write(": the connection ends here\n\n", () => response.destroy());
      return;
    case "error": {
      const status = reply.type === "overloaded_error" ? wire.overloadedStatus : reply.status;
      sendJson(response, status, wire.error(reply.type, reply.message), adviceHeaders(reply));
      return;
    }
    default:
      await wire.answer({ ...turn, answer: reply });
  }
}

/** When to try again, in seconds or, as for a subscription, as the time of its reset. */
function adviceHeaders({ retryAfterSec, resetAt }: Extract<Reply, { kind: "error" }>): Record<string, string> {
  return {
    ...(retryAfterSec !== undefined && { "retry-after": String(retryAfterSec) }),
    ...(resetAt !== undefined && {
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": String(resetAt),
      "anthropic-ratelimit-unified-representative-claim": "five_hour",
    }),
  };
}

// What CLIs ask for besides turns: the list of models, a token count, a sign of life.
function answerSideRequest(path: string, method: string, response: ServerResponse): void {
  if (path.endsWith("/count_tokens")) {
    sendJson(response, 200, { input_tokens: anthropicUsage().input_tokens });
  } else if (path.endsWith("/models")) {
    sendJson(response, 200, { object: "list", data: [{ id: "scripted", type: "model", object: "model", display_name: "Scripted" }] });
  } else if (method === "HEAD") {
    response.writeHead(200).end();
  } else {
    sendJson(response, 404, openaiError("not_found_error", `Nothing is scripted for ${path}.`));
  }
}

/** A model that does what the prompt's words say: same words, same answer. */
export async function startLlm(options: LlmOptions = {}): Promise<Llm> {
  const host = options.host ?? "127.0.0.1";
  const requests: LlmRequest[] = [];
  const stopping = new AbortController();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    const method = request.method ?? "GET";
    const body = await readBody(request);
    const conversation = readConversation(body);
    const wire = wireOf(path);
    const apiKey = apiKeyOf(request);
    const { model = "", stream = false, messages = [] } = body;
    const reply = wire && (errorOfSettings(apiKey, model) ?? options.script?.(conversation) ?? chooseReply(conversation));
    const { system, userTexts, toolNames } = conversation;
    requests.push({
      method,
      path,
      apiKey,
      model,
      stream,
      system,
      messages,
      userTexts,
      tools: toolNames.length,
      toolNames,
      reply: reply?.kind,
    });
    options.onRequest?.(requests.at(-1)!);
    if (!wire || !reply) return answerSideRequest(path, method, response);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const signal = AbortSignal.any([gone.signal, stopping.signal]);
    await play(wire, reply, { response, model, stream, id: requests.length, signal });
  }

  const server = createServer((request, response) => {
    // A client that left in the middle is part of many scripts, a body that is no JSON of none.
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else sendJson(response, 400, openaiError("invalid_request_error", String(error)));
    });
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(options.port ?? 0, host, resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}`,
    port,
    requests,
    async stop() {
      stopping.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
