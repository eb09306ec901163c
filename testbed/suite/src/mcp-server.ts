import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface McpTestServer {
  readonly url: string;
  /** Authorization headers, in the order of the requests. */
  readonly tokens: readonly string[];
  stop(): Promise<void>;
}

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

/** A tool server that speaks as much of the Model Context Protocol as one tool needs. */
export async function startMcpServer(host: string, tool: string, answer: string): Promise<McpTestServer> {
  const tokens: string[] = [];
  const results: Record<string, (message: Message) => object> = {
    initialize: ({ params }) => ({
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "test", version: "1" },
    }),
    "tools/list": () => ({ tools: [{ name: tool, description: "A tool of the test", inputSchema: { type: "object", properties: {} } }] }),
    "tools/call": () => ({ content: [{ type: "text", text: answer }] }),
  };
  const server = createServer(async (request, response) => {
    tokens.push(request.headers.authorization ?? "");
    if (request.method !== "POST") return response.writeHead(405).end();
    const message = JSON.parse(await new Response(request as unknown as ReadableStream).text()) as Message;
    if (message.id === undefined) return response.writeHead(202).end();
    const result = results[message.method]?.(message);
    const body = result ? { result } : { error: { code: -32601, message: "unknown method" } };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...body }));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/mcp`,
    tokens,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
