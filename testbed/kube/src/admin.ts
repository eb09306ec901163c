import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";

/** The API server's refusal, as it put it. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(what: string, status: number, body: unknown) {
    super(`${what}: ${status} ${(body as { message?: string } | null)?.message ?? JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
  }
}

export interface Admin {
  /** Gives the parsed answer, or text where it is none of JSON (logs); throws ApiFailure on a refusal. */
  request<T = unknown>(method: string, path: string, body?: unknown, contentType?: string): Promise<T>;
  close(): void;
}

/** Requests as the administrator, over connections that are kept. */
export function openAdmin(server: string, dir: string): Admin {
  const pki = (file: string) => readFileSync(join(dir, "pki", file));
  const agent = new Agent({ keepAlive: true, ca: pki("ca.crt"), cert: pki("admin.crt"), key: pki("admin.key") });
  return {
    close: () => agent.destroy(),
    request: (method, path, body, contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json") =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? "" : JSON.stringify(body);
        // Node leaves the length of a DELETE's body out, and the server then takes the body for the next request.
        const headers = { "content-length": Buffer.byteLength(text), ...(text === "" ? {} : { "content-type": contentType }) };
        const sent = request(new URL(path, server), { method, agent, headers });
        sent.once("error", reject);
        sent.setTimeout(30_000, () => sent.destroy(new Error(`${method} ${path}: no answer for 30 s`)));
        sent.once("response", (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.once("error", reject);
          response.once("end", () => {
            const answer = parse(Buffer.concat(chunks).toString(), response.headers["content-type"]);
            if (response.statusCode! < 400) return resolve(answer as never);
            reject(new ApiFailure(`${method} ${path}`, response.statusCode!, answer));
          });
        });
        sent.end(text);
      }),
  };
}

const parse = (text: string, type: string | undefined): unknown => (type?.includes("json") ? JSON.parse(text) : text);
