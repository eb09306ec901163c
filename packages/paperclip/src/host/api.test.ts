import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { apiOfRun, callsEnded, HostApi, HostError } from "./api.ts";

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answering = (status: number, body: string) => serve((_, response) => response.writeHead(status).end(body));
const failureOf = (url: string, token: string | null = "secret-token", timeoutMs = 30_000) =>
  new HostApi(url, token, timeoutMs).get("/runs/1").then(
    () => null,
    (error: HostError) => error,
  );

test("a call has the token and the address, however that is spelled", async () => {
  const asked: string[] = [];
  const url = await serve((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.end("[1]");
  });
  for (const spelled of [url, `${url}/`, `${url}/api`, `${url}/api/`])
    expect(await new HostApi(spelled, "t", 30_000).get("/x")).toEqual([1]);
  await new HostApi(url, null, 30_000).post("/y", {});
  expect(asked).toEqual([...Array(4).fill("GET /api/x Bearer t"), "POST /api/y undefined"]);
});

test.each([
  [404, '{"error":"Run not found"}', "HTTP 404 Run not found"],
  [502, "<html>\r\n\n<body>\tBad  gateway</body>\n</html>\n", "HTTP 502 <html> <body> Bad gateway</body> </html>"],
  [401, "", "HTTP 401, the API key is not accepted"],
  [200, "<html>", "the answer is not JSON; is this a Paperclip server?"],
])("%i %j: an error of one line that names the call and not the token", async (status, body, message) => {
  const url = await answering(status, body);
  const error = await failureOf(url);
  expect(error).toBeInstanceOf(HostError);
  expect(error).toMatchObject({ status, message: `GET ${url}/api/runs/1: ${message}` });
});

test("without a token the remedy is named", async () => {
  expect((await failureOf(await answering(403, "{}"), null))?.message).toContain("a board API key is needed (PAPERCLIP_API_KEY)");
});

test("a host that is not there, or does not answer in time, before or within its answer", async () => {
  const gone = createServer().listen(0, "127.0.0.1");
  await once(gone, "listening");
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  expect(await failureOf(`http://127.0.0.1:${port}`)).toMatchObject({ status: null, message: expect.stringContaining("ECONNREFUSED") });
  const silent = await serve(() => {});
  const halting = await serve((_, response) => void response.write("["));
  for (const url of [silent, halting])
    expect(await failureOf(url, "t", 100)).toMatchObject({ status: null, message: expect.stringContaining("no answer within 0.1 s") });
});

test("a password in the address is not repeated", async () => {
  const error = await failureOf("http://ada:hush@127.0.0.1:3100");
  expect(error?.message).toMatch(/^GET http:\/\/127\.0\.0\.1:3100\/api\/runs\/1: /);
  expect(error?.message).not.toContain("hush");
});

test("a run asks this very server first, and not at all without a token", async () => {
  const port = new URL(await answering(200, "7")).port;
  const env = { PAPERCLIP_LISTEN_PORT: port, PAPERCLIP_API_URL: "http://127.0.0.1:1" };
  expect(await apiOfRun({ authToken: "t" }, env)?.get("/x")).toBe(7);
  expect([apiOfRun({}, env), apiOfRun({ authToken: "t" }, {})]).toEqual([null, null]);
});

test("a run's calls have ended when the last one has, whoever made it and whether or not anybody waits for it", async () => {
  const open: (() => void)[] = [];
  const url = await serve((_, response) => void open.push(() => response.end("1")));
  const ctx = { authToken: "t" };
  const env = { PAPERCLIP_API_URL: url };
  await callsEnded(ctx);
  const call = () => apiOfRun(ctx, env)?.get("/x");
  const first = call();
  void call();
  void apiOfRun({ authToken: "t" }, env)?.get("/x"); // of another run
  let ended = false;
  const waiting = callsEnded(ctx).then(() => {
    ended = true;
  });
  await vi.waitFor(() => expect(open).toHaveLength(3));
  open[0]?.();
  await first;
  expect(ended).toBe(false);
  open[1]?.();
  await waiting;
});
