import { createHash, randomBytes } from "node:crypto";
import { Agent, get } from "node:http";
import { afterAll, describe, expect, test } from "vitest";
import { cleanUp, standstillOf, waitFor } from "../testing/runner-fixture.ts";
import { ask, askRaw, closeTargets, own, RUNTIMES, relaySpec, startRelayedPod, startTarget } from "./testing/relay-fixture.ts";

afterAll(() => {
  cleanUp();
  closeTargets();
});

const MIB = 1024 * 1024;
const hash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

describe.concurrent.each(RUNTIMES)("what passes through, under %s", (_, runtime) => {
  test("5 MB in each direction, with a length and in chunks", async () => {
    const bytes = randomBytes(5_000_000);
    const target = await startTarget(({ path }, response) => {
      if (path === "/length") response.setHeader("content-length", bytes.length);
      response.end(bytes);
    });
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    for (const headers of [own, { ...own, "transfer-encoding": "chunked" }]) {
      const answer = await ask(`${relayed.url}/${"transfer-encoding" in headers ? "chunked" : "length"}`, {
        method: "PUT",
        body: bytes,
        headers,
      });
      expect(hash(answer.body)).toBe(hash(bytes));
      expect(hash(target.deliveries.at(-1)!.body)).toBe(hash(bytes));
    }
    expect(target.deliveries).toHaveLength(2);
    await relayed.end();
  });

  test("events as they come, and the client's end reaches the target", async () => {
    let closed = false;
    let send = (_text: string): void => {};
    const target = await startTarget((_delivery, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      send = (text) => response.write(text);
      response.on("close", () => {
        closed = true;
      });
      send("data: 0\n\n");
    });
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const controller = new AbortController();
    const seen: string[] = [];
    const asked = ask(`${relayed.url}/events`, { signal: controller.signal, onData: (text) => seen.push(text) });
    for (let event = 1; event < 5; event++) {
      await waitFor(() => seen.length === event, `event ${event}`);
      send(`data: ${event}\n\n`);
    }
    await waitFor(() => seen.length === 5, "the last event");
    expect(seen.at(-1)).toBe("data: 4\n\n");
    expect(closed).toBe(false);
    controller.abort();
    await expect(asked).rejects.toThrow();
    await waitFor(() => closed, "the target to hear of it");
    await relayed.end();
  });

  test("100 requests at once, then 20 on one connection", async () => {
    const target = await startTarget(({ path, body }, response) =>
      setTimeout(() => response.end(path + body.toString()), Math.random() * 50),
    );
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const asked = Array.from({ length: 100 }, (_, n) => ask(`${relayed.url}/${n}`, { method: "POST", body: `:${n}` }));
    const answers = await Promise.all(asked);
    expect(answers.map(({ text }) => text)).toEqual(answers.map((_, n) => `/${n}:${n}`));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let n = 0; n < 20; n++) {
      const text = await new Promise<string>((resolve, reject) => {
        get(`${relayed.url}/kept-${n}`, { agent, headers: own }, (response) => {
          ports.add(response.socket.localPort);
          let body = "";
          response.on("data", (chunk: Buffer) => {
            body += chunk;
          });
          response.on("error", reject).on("end", () => resolve(body));
        }).on("error", reject);
      });
      expect(text).toBe(`/kept-${n}`);
    }
    agent.destroy();
    expect(ports.size).toBe(1);
    expect(target.deliveries).toHaveLength(120);
    await relayed.end();
  });

  test("status, headers and path as they are, with the target's path in front", async () => {
    const target = await startTarget((_delivery, response) => {
      response.writeHead(418, "Short And Stout", {
        "X-Twice": ["a", "b"],
        Connection: "keep-alive, X-Hop",
        "X-Hop": "1",
        "Keep-Alive": "timeout=5",
      });
      response.end("tea");
    });
    const relayed = await startRelayedPod(relaySpec(`${target.url}/some/prefix`), runtime);
    expect(new URL(relayed.url).pathname).toBe("/some/prefix");
    const raw = await askRaw(
      relayed.url,
      "GET /some/prefix/a%20b?c=%C3%A4&d HTTP/1.1\r\nHost: me\r\nX-Odd: \xe9\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\nUpgrade: x\r\n\r\n",
    );
    const [first, ...lines] = raw.split("\r\n");
    expect(first).toBe("HTTP/1.1 418 Short And Stout");
    expect(lines.filter((line) => /^(x-|connection|keep-alive)/i.test(line))).toEqual(["X-Twice: a", "X-Twice: b", "Connection: close"]);
    const [{ path, headers }] = target.deliveries as [(typeof target.deliveries)[0]];
    expect(path).toBe("/some/prefix/a%20b?c=%C3%A4&d");
    expect(headers).toMatchObject({ host: `127.0.0.1:${target.port}`, connection: "close" });
    expect(headers["x-mine"] ?? headers.upgrade).toBeUndefined();
    await relayed.end();
  });

  test("HEAD, 204, 304, an answer that ends with its connection, a client that waits for 100, two requests in one piece", async () => {
    const target = await startTarget(({ method, path, body }, response) => {
      if (path === "/close") response.useChunkedEncodingByDefault = false;
      else if (method === "HEAD") response.setHeader("content-length", 1000);
      else if (path !== "/text") response.statusCode = Number(path.slice(1));
      response.end(method === "HEAD" || response.statusCode !== 200 ? undefined : `text${body.toString()}`);
    });
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const line = (method: string, path: string, more = ""): string => `${method} ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
    const texts = await askRaw(
      relayed.url,
      `${line("HEAD", "/text")}${line("GET", "/204")}${line("GET", "/304")}${line("PUT", "/text", "Content-Length: 2\r\n")}!!${line("GET", "/close", "Connection: close\r\n")}`,
    );
    expect(texts.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 204", "HTTP/1.1 304", "HTTP/1.1 200", "HTTP/1.1 200"]);
    expect(texts).toContain("text!!");
    // The end of that connection is passed on as the end of the body.
    expect(texts).toMatch(/\r\n\r\n4\r\ntext\r\n0\r\n\r\n$/);
    const waits = await askRaw(
      relayed.url,
      `${line("PUT", "/text", "Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n")}??`,
    );
    expect(waits).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n.*text\?\?/s);
    expect(target.deliveries.at(-1)?.headers.expect).toBeUndefined();
    await relayed.end();
  });
});

test("a client that reads slowly does not fill the runner's memory", async () => {
  const total = 128 * MIB;
  const piece = Buffer.alloc(64 * 1024);
  let taken = 0;
  const target = await startTarget((_delivery, response) => {
    const more = (): void => {
      while (taken < total) {
        taken += piece.length;
        if (!response.write(piece)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  });
  const relayed = await startRelayedPod(relaySpec(target.url));
  const bytes = await new Promise<number>((resolve, reject) => {
    get(`${relayed.url}/x`, { agent: false, headers: own }, async (response) => {
      let count = 0;
      response.on("end", () => resolve(count)).on("error", reject);
      // What is taken from the target while nobody reads is what the sockets hold.
      expect.soft(await standstillOf(() => taken)).toBeLessThan(total / 2);
      response.on("data", (chunk: Buffer) => {
        count += chunk.length;
      });
    });
  });
  expect(bytes).toBe(total);
  await relayed.end();
});
