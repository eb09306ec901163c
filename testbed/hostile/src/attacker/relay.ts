import { request } from "node:http";
import { connect } from "node:net";
import type { Attacks, Attempted } from "./attack.ts";

// The relay in the pod adds the run's token to requests for one API: it must reach nothing else, and stay usable.

const base = (): URL => new URL(process.env.PAPERCLIP_API_URL ?? "");

/** What the relay answers to these bytes within a second; some of it never comes. */
function raw(bytes: string, waitMs = 1000): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = base();
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = "";
    const end = () => {
      socket.destroy();
      resolve(text);
    };
    setTimeout(end, waitMs);
    socket.setEncoding("latin1").on("data", (piece: string) => {
      text += piece;
    });
    socket.on("close", end);
    socket.on("error", end);
  });
}

const firstLine = (answer: string): string => answer.split("\r\n")[0] || "no answer";
const sent = async (bytes: string, waitMs?: number): Promise<Attempted> => ({ got: false, saw: firstLine(await raw(bytes, waitMs)) });

/** An ordinary request through the relay. */
function plain(path: string, more: Record<string, string> = {}): Promise<string> {
  const headers = { authorization: `Bearer ${process.env.PAPERCLIP_API_KEY}`, ...more };
  return new Promise((resolve) => {
    const asked = request(new URL(`${base().href.replace(/\/$/, "")}${path}`), { headers, agent: false }, (response) => {
      response.resume();
      resolve(`answered ${response.statusCode}`);
    });
    asked.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    asked.end();
  });
}

const notThere = "the other server hears nothing";

export const relay: Attacks = {
  "relay/absolute-uri": {
    tries: "asks the relay for another server by an absolute URI",
    must: notThere,
    attack: ({ other }) => sent(`GET ${other}/api/stolen HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
  },
  "relay/connect": {
    tries: "asks the relay for a tunnel (CONNECT) to another server",
    must: notThere,
    attack: async ({ other }) => {
      const { host } = new URL(other ?? "");
      const answer = await raw(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\nGET /api/stolen HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      return { got: / 200 /.test(firstLine(answer)), saw: firstLine(answer) };
    },
  },
  "relay/host-header": {
    tries: "names another server in the Host header",
    must: `${notThere}; the API gets its own name`,
    attack: async ({ other }) => ({ got: false, saw: await plain("/host-header", { host: new URL(other ?? "").host }) }),
  },
  "relay/forwarded-header": {
    tries: "names another server in X-Forwarded-Host and a proxy in the pod's variables",
    must: notThere,
    attack: async ({ other }) => ({ got: false, saw: await plain("/forwarded", { "x-forwarded-host": new URL(other ?? "").host }) }),
  },
  "relay/other-token": {
    tries: "sends the token and the id of another run",
    must: "the API gets what the attacker had anyway, and nothing of this run's",
    attack: async ({ otherToken, otherRun }) => ({
      got: false,
      saw: await plain("/other-token", { authorization: `Bearer ${otherToken}`, "x-paperclip-run-id": otherRun ?? "" }),
    }),
  },
  "relay/no-token": {
    tries: "sends a request without a token, as any process that finds the relay could",
    must: "the relay adds none",
    attack: async () => ({ got: false, saw: await plain("/no-token", { authorization: "" }) }),
  },
  "relay/traversal": {
    tries: "leaves the API's path by /../ and by %2e%2e",
    must: "the request goes to the API's server, which decides, and without a token it has not shown",
    attack: () => sent("GET /api/../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
  },
  "relay/smuggling": {
    tries: "hides a second request behind Content-Length and Transfer-Encoding",
    must: "the API sees no hidden request",
    attack: () =>
      sent(
        "POST /api/smuggle HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /api/hidden HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n",
      ),
  },
  "relay/header-break": {
    tries: "breaks a header in two by a bare line feed",
    must: "the API sees no header of the attacker's making",
    attack: () => sent("GET /api/break HTTP/1.1\r\nHost: x\r\nX-A: a\nAuthorization: Bearer broken\r\n\r\n"),
  },
  "relay/giant-header": {
    tries: "sends a header of 8 MiB",
    must: "refused; the relay goes on",
    attack: async () => {
      const answer = await raw(`GET /api/giant HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(8 * 1024 * 1024)}\r\n\r\n`);
      return { got: / 200 /.test(firstLine(answer)), saw: firstLine(answer) };
    },
  },
  "relay/slow-requests": {
    tries: "opens 200 requests that never end",
    must: "an ordinary request is still answered",
    attack: async () => {
      const { hostname, port } = base();
      const open = Array.from({ length: 200 }, () =>
        connect(Number(port), hostname, function (this: import("node:net").Socket) {
          this.write("POST /api/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\na");
        }).on("error", () => {}),
      );
      const answer = await plain("/beside-slow");
      for (const socket of open) socket.destroy();
      return { got: answer !== "answered 200", saw: answer };
    },
  },
  "relay/not-http": {
    tries: "sends bytes that are no HTTP",
    must: "refused; the relay goes on",
    attack: async () => {
      await raw("\0\x16\x03\x01\u00ff\r\n\r\n", 300);
      const answer = await plain("/after-garbage");
      return { got: answer !== "answered 200", saw: answer };
    },
  },
};
