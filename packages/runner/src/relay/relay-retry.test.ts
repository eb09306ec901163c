import { createServer, type Server, type Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { cleanUp, sleep, waitFor } from "../testing/runner-fixture.ts";
import { ask, askRaw, CONFLICT, closeTargets, RUNTIMES, relaySpec, startRelayedPod, startTarget } from "./testing/relay-fixture.ts";

const servers: Server[] = [];
afterAll(() => {
  cleanUp();
  closeTargets();
  for (const server of servers) server.close();
});

/** Lets each connection be dealt with by its number; counts the requests that arrived on them. */
async function rawTarget(onRequest: (socket: Socket, count: number) => void): Promise<{ url: string; count: () => number }> {
  let count = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (!text.includes("\r\n\r\n")) return;
      text = "";
      onRequest(socket, ++count);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, count: () => count };
}

describe.concurrent.each(RUNTIMES)("what is tried again, under %s", (_, runtime) => {
  test("a refused connection, until the target is back", async () => {
    const gone = await startTarget(() => {});
    gone.close();
    const relayed = await startRelayedPod(relaySpec(gone.url), runtime);
    const answer = ask(`${relayed.url}/x`, { method: "POST", body: "once" });
    const stream = ask(`${relayed.url}/large`, { method: "POST", body: Buffer.alloc(2 * 1024 * 1024) });
    await sleep(500);
    const target = await startTarget((_delivery, response) => response.end("fine"), gone.port);
    expect(await answer).toMatchObject({ status: 200, text: "fine" });
    expect(await stream).toMatchObject({ status: 200, text: "fine" });
    expect(target.deliveries.map(({ body }) => body.length).sort((a, b) => a - b)).toEqual([4, 2 * 1024 * 1024]);
    await relayed.end();
  });

  test("a refused connection, no longer than allowed", async () => {
    const gone = await startTarget(() => {});
    gone.close();
    const relayed = await startRelayedPod(relaySpec(gone.url, 1), runtime);
    const answer = await ask(`${relayed.url}/x`);
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.text)).toEqual({ error: "relay: cannot connect (ECONNREFUSED)" });
    const { ended, notes } = await relayed.end();
    // The waits double from 0.1 s: a second has room for three.
    expect(notes).toEqual([
      expect.stringMatching(/^relay: [123] refused connections were tried again$/),
      "relay: 1 requests failed, the last one: cannot connect (ECONNREFUSED)",
    ]);
    expect(ended.code).toBe(143);
  });

  test("a name that is not known", async () => {
    const relayed = await startRelayedPod(relaySpec("http://no-such-host.invalid:1", 0.5), runtime);
    const { status, text } = await ask(`${relayed.url}/x`);
    expect(status).toBe(502);
    expect(text).toMatch(/ENOTFOUND|EAI_AGAIN/);
    expect((await relayed.end()).notes.join()).toContain("refused connections were tried again");
  });

  test.for([
    ["a reset", (socket: Socket) => socket.resetAndDestroy()],
    ["an end without an answer", (socket: Socket) => socket.end()],
    ["half a head", (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\nContent-")],
    ["something else than HTTP", (socket: Socket) => socket.end("SSH-2.0\r\n\r\n")],
  ] as const)("not after sending: %s", async ([, react]) => {
    const target = await rawTarget((socket) => react(socket));
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const { status, text } = await ask(`${relayed.url}/x`, { method: "POST", body: "once" });
    expect(status).toBe(502);
    expect(text).toContain("may have been carried out");
    expect(target.count()).toBe(1);
    await relayed.end();
  });

  test("not an answer that breaks off, which the client gets to see", async () => {
    const target = await rawTarget((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
      setTimeout(() => socket.destroy(), 50);
    });
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    await expect(ask(`${relayed.url}/x`)).rejects.toThrow(/aborted|reset|hang up/i);
    expect(target.count()).toBe(1);
    await relayed.end();
  });

  test("another 409 is passed on at once, and so is the right one for a stranger or for a long body", async () => {
    const other = JSON.stringify({ error: "checkout conflict" });
    const target = await startTarget(({ path }, response) => {
      response.statusCode = path === "/500" ? 500 : 409;
      response.end(path === "/other" ? other : CONFLICT);
    });
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    expect(await ask(`${relayed.url}/other`)).toMatchObject({ status: 409, text: other });
    expect(await ask(`${relayed.url}/500`)).toMatchObject({ status: 500, text: CONFLICT });
    expect(await ask(`${relayed.url}/x`, { headers: {} })).toMatchObject({ status: 409, text: CONFLICT });
    const body = Buffer.alloc(1024 * 1024 + 1);
    expect(await ask(`${relayed.url}/x`, { method: "PUT", body })).toMatchObject({ status: 409, text: CONFLICT });
    expect(target.deliveries).toHaveLength(4);
    expect((await relayed.end()).notes).toEqual([]);
  });

  test("a conflict that stays is passed on when the time is over", async () => {
    const target = await startTarget((_delivery, response) => response.writeHead(409).end(CONFLICT));
    const relayed = await startRelayedPod(relaySpec(target.url, 1), runtime);
    expect(await ask(`${relayed.url}/x`)).toMatchObject({ status: 409, text: CONFLICT });
    // As above: three more at most, and one for certain.
    expect([2, 3, 4]).toContain(target.deliveries.length);
    await relayed.end();
  });

  test.for([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["", (text: string) => Buffer.from(text)],
  ] as const)("a conflict in chunks, packed with '%s'", async ([coding, pack]) => {
    const target = await startTarget((_delivery, response) => {
      const isFirst = target.deliveries.length === 1;
      response.writeHead(isFirst ? 409 : 200, coding ? { "content-encoding": coding } : {});
      const bytes = pack(CONFLICT);
      response.write(bytes.subarray(0, 14));
      setTimeout(() => response.end(bytes.subarray(14)), 20);
    });
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    expect(await ask(`${relayed.url}/x`)).toMatchObject({ status: 200 });
    expect(target.deliveries).toHaveLength(2);
    await relayed.end();
  });

  test("a conflict for a request in chunks, body and all", async () => {
    const target = await startTarget((_delivery, response) => response.writeHead(target.deliveries.length < 3 ? 409 : 200).end(CONFLICT));
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const headers = { authorization: "Bearer token-1", "transfer-encoding": "chunked" };
    expect(await ask(`${relayed.url}/x`, { method: "POST", body: "in chunks", headers })).toMatchObject({ status: 200 });
    expect(target.deliveries.map(({ body }) => body.toString())).toEqual(["in chunks", "in chunks", "in chunks"]);
    await relayed.end();
  });

  test("a long body that is refused before it is sent", async () => {
    const target = await rawTarget((socket) => socket.end("HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\n\r\nlong"));
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const head = "PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n";
    expect(await askRaw(relayed.url, head + "x".repeat(100_000))).toMatch(/^HTTP\/1.1 413 Too Large\r\n.*Connection: close\r\n\r\nlong$/s);
    await relayed.end();
  });

  test("a client that is gone is not waited for", async () => {
    const target = await startTarget((_delivery, response) => response.writeHead(409).end(CONFLICT));
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const controller = new AbortController();
    const asked = ask(`${relayed.url}/x`, { signal: controller.signal });
    await waitFor(() => target.deliveries.length >= 2, "a second attempt");
    controller.abort();
    await expect(asked).rejects.toThrow();
    // A third attempt may have been under way; within this time there would be two more.
    await sleep(1_000);
    expect([2, 3]).toContain(target.deliveries.length);
    await relayed.end();
  });
});
