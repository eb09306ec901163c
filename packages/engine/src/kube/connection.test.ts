import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, connect as netConnect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ApiError, isTransient } from "./api-error.ts";
import { type Connection, connect } from "./connection.ts";
import { sendRequest } from "./send-request.ts";
import { answer, answerStatus, TestApi } from "./testing/test-api.ts";
import { testTls } from "./testing/test-tls.ts";
import { RunWatch } from "./watch/run-watch.ts";

const path = "/apis/batch/v1/namespaces/n/jobs";
const get = { method: "GET", path } as const;
let api: TestApi;
let dir: string;
const opened: Connection[] = [];

beforeEach(async () => {
  api = await TestApi.start();
  dir = mkdtempSync(join(tmpdir(), "connection-test-"));
});
afterEach(async () => {
  for (const connection of opened.splice(0)) connection.close();
  await api.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function open(user: object, server?: string): Promise<Connection> {
  const connection = await connect({ kubeconfig: api.kubeconfig("other", user, server) });
  opened.push(connection);
  return connection;
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error as ApiError,
  );

test("the same options give the same connection; after close a new one", async () => {
  const kubeconfig = api.kubeconfig();
  const [one, two] = await Promise.all([connect({ kubeconfig }), connect({ kubeconfig })]);
  expect(one).toBe(two);
  expect(one.server).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  one.close();
  const three = await connect({ kubeconfig });
  expect(three).not.toBe(one);
  three.close();
});

test("a server behind a path keeps it; the token goes with each request", async () => {
  const connection = await open({ token: "t1" }, `${(await api.connect()).server}/k8s/clusters/c-1/`);
  api.hook = (_, response) => {
    answer(response, 200, {});
    return true;
  };
  await connection.request({ ...get, query: { labelSelector: "a=b,c in (d e)", limit: 1, continue: null } });
  expect(api.seen[0]).toMatchObject({ path: `/k8s/clusters/c-1${path}`, headers: { authorization: "Bearer t1" } });
  expect(api.seen[0]?.query.get("labelSelector")).toBe("a=b,c in (d e)");
  expect([...(api.seen[0]?.query.keys() ?? [])]).toEqual(["labelSelector", "limit"]);
});

describe("credentials", () => {
  /** An exec plugin that counts its calls and hands out a new token each time. */
  function plugin(lifeMs: number): { user: object; calls: () => number } {
    const script = join(dir, "plugin.mjs");
    writeFileSync(
      script,
      `import { appendFileSync, readFileSync } from "node:fs";
       appendFileSync(${JSON.stringify(join(dir, "calls"))}, "x");
       const token = "exec-" + readFileSync(${JSON.stringify(join(dir, "calls"))}).length;
       const expirationTimestamp = new Date(Date.now() + ${lifeMs}).toISOString();
       console.log(JSON.stringify({ kind: "ExecCredential", status: { token, expirationTimestamp } }));`,
    );
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: process.execPath, args: [script], env: null };
    return { user: { exec }, calls: () => readFileSync(join(dir, "calls")).length };
  }

  test("requests that start together share one call of an exec plugin", async () => {
    const { user, calls } = plugin(60_000);
    const connection = await open(user);
    await Promise.all(Array.from({ length: 10 }, () => connection.request(get)));
    expect(calls()).toBe(1);
    expect(api.seen[9]?.headers.authorization).toBe("Bearer exec-1");
  });

  test("a 401 is answered by fresh credentials, also for a mutation, but not for ever", async () => {
    const { user, calls } = plugin(60_000);
    const connection = await open(user);
    api.hook = ({ headers }, response) => {
      const ok = headers.authorization === "Bearer exec-2";
      if (!ok) answerStatus(response, 401, "Unauthorized", "Unauthorized");
      return !ok;
    };
    const post = { method: "POST", path, body: { metadata: { name: "a" } } } as const;
    const all = await Promise.all([connection.request(post), ...Array.from({ length: 5 }, () => connection.request(get))]);
    expect(all.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 200]);
    api.hook = (_, response) => {
      answerStatus(response, 401, "Unauthorized", "Unauthorized");
      return true;
    };
    const before = api.seen.length;
    expect(await failure(sendRequest(connection, get))).toMatchObject({ code: "api_auth", httpStatus: 401 });
    expect(api.seen.length - before).toBe(1);
    expect(calls()).toBe(2);
  });

  test("a token file that ends in a newline, and is rotated", async () => {
    const tokenFile = join(dir, "token");
    writeFileSync(tokenFile, "file-1\n");
    const connection = await open({ "auth-provider": { name: "tokenFile", config: { tokenFile } } });
    await connection.request(get);
    writeFileSync(tokenFile, "file-2\n");
    api.hook = ({ headers }, response) => {
      const ok = headers.authorization === "Bearer file-2";
      if (!ok) answerStatus(response, 401, "Unauthorized", "Unauthorized");
      return !ok;
    };
    await connection.request(get);
    expect(api.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer file-1", "Bearer file-1", "Bearer file-2"]);
  });

  test("a plugin that hangs, is not there, or prints no JSON: a clear error, no token in it", async () => {
    const exec = (args: string[], command = process.execPath) => ({ exec: { apiVersion: "v1", command, args } });
    const hanging = await open(exec(["-e", "setTimeout(() => {}, 700)"]));
    expect(await failure(hanging.request({ ...get, timeoutMs: 100 }))).toMatchObject({ code: "api_timeout" });
    hanging.close();
    const missing = await open({ exec: { apiVersion: "v1", command: "/no/such/plugin", args: null } });
    expect(await failure(missing.request(get))).toMatchObject({ code: "api_auth", message: expect.stringContaining("ENOENT") });
    missing.close();
    const broken = await open(exec(["-e", "console.log('top-secret-token')"]));
    const error = await failure(broken.request(get));
    expect(error.code).toBe("api_auth");
    expect(inspect(error, { depth: 10 })).not.toContain("top-secret");
    expect(api.seen).toHaveLength(0);
  });
});

describe("configurations that cannot be used", () => {
  test("no file, then a good one: the next try works", async () => {
    const kubeconfig = join(dir, "later");
    expect(await failure(connect({ kubeconfig }))).toMatchObject({ code: "api_config", message: expect.stringContaining("ENOENT") });
    writeFileSync(kubeconfig, readFileSync(api.kubeconfig()));
    opened.push(await connect({ kubeconfig }));
  });

  test("broken YAML is not quoted: it holds tokens", async () => {
    const kubeconfig = join(dir, "broken");
    writeFileSync(kubeconfig, 'users:\n- name: "u\n  user: {token: top-secret-token}\n');
    const error = await failure(connect({ kubeconfig }));
    expect(error).toMatchObject({ code: "api_config" });
    expect(inspect(error, { depth: 10 })).not.toContain("top-secret");
  });

  test("no such context; no kubeconfig and no pod", async () => {
    const error = await failure(connect({ kubeconfig: api.kubeconfig(), context: "nope" }));
    expect(error).toMatchObject({ code: "api_config", message: expect.stringContaining('"nope"') });
    if (!process.env.KUBERNETES_SERVICE_HOST) expect(await failure(connect({ kubeconfig: null }))).toMatchObject({ code: "api_config" });
  });
});

describe("TLS", () => {
  let server: Server;
  let subjects: string[];
  let handshakes: number;

  beforeEach(async () => {
    subjects = [];
    handshakes = 0;
    const pem = (text: string) => Buffer.from(text, "base64");
    const options = {
      cert: pem(testTls.serverCert),
      key: pem(testTls.serverKey),
      ca: pem(testTls.ca),
      requestCert: true,
      rejectUnauthorized: false,
    };
    server = createServer(options, (request, response) => {
      subjects.push(String((request.socket as TLSSocket).getPeerCertificate().subject?.CN));
      answer(response, 200, {});
    });
    server.on("secureConnection", () => handshakes++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  async function openTls(cluster: object, user: object, kubeconfig = join(dir, `tls-${Math.random()}`)): Promise<Connection> {
    const { port } = server.address() as AddressInfo;
    const config = {
      clusters: [{ name: "c", cluster: { server: `https://127.0.0.1:${port}`, ...cluster } }],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
    const connection = await connect({ kubeconfig });
    opened.push(connection);
    return connection;
  }

  test("the cluster's authority and a client certificate; one handshake for many requests", async () => {
    const certificate = { "client-certificate-data": testTls.clientCert, "client-key-data": testTls.clientKey };
    const connection = await openTls({ "certificate-authority-data": testTls.ca }, certificate);
    for (let i = 0; i < 10; i++) await connection.request(get);
    expect(subjects).toEqual(Array(10).fill("runner"));
    expect(handshakes).toBe(1);
    connection.close();
  });

  test("a certificate that does not fit its key: both are read again", async () => {
    const ca = { "certificate-authority-data": testTls.ca };
    const kubeconfig = join(dir, "rotated");
    const certificate = { "client-certificate-data": testTls.clientCert, "client-key-data": testTls.clientKey };
    const connection = await openTls(ca, { ...certificate, "client-key-data": testTls.serverKey }, kubeconfig);
    // The second half of the rotation.
    expect(await openTls(ca, certificate, kubeconfig)).toBe(connection);
    await connection.request(get);
    expect(subjects).toEqual(["runner"]);
  });

  test("the server's name in the certificate can be given", async () => {
    const connection = await openTls({ "certificate-authority-data": testTls.ca, "tls-server-name": "api.test" }, { token: "t" });
    expect((await connection.request(get)).status).toBe(200);
    const wrong = await openTls({ "certificate-authority-data": testTls.ca, "tls-server-name": "other.test" }, { token: "t" });
    expect(await failure(wrong.request(get))).toMatchObject({ code: "api_unreachable", systemCode: "ERR_TLS_CERT_ALTNAME_INVALID" });
    for (const each of [connection, wrong]) each.close();
  });

  test("an unknown authority: a run says so at once, by name", async () => {
    const connection = await openTls({}, { token: "t" });
    const watch = new RunWatch(connection, "n", "app=x");
    const facts: unknown[] = [];
    watch.subscribe("a", (fact) => facts.push(fact));
    expect(await watch.accessError()).toMatchObject({ systemCode: expect.stringMatching(/ISSUER|VERIFY|SELF_SIGNED/) });
    const error = expect.stringMatching(/^the API server's certificate is not accepted \(.*\): check the certificate authority/);
    expect(facts).toContainEqual({ kind: "api-lost", error, forPeople: true });
    watch.close();
    connection.close();
  });

  test("an unknown authority: refused before anything is sent, and not tried again", async () => {
    const connection = await openTls({}, { token: "t" });
    const error = await failure(sendRequest(connection, { method: "POST", path, body: {} }));
    expect(error).toMatchObject({ code: "api_unreachable", maybeApplied: false });
    expect(isTransient(error)).toBe(false);
    expect(subjects).toHaveLength(0);
    connection.close();
  });
});

test("through a proxy: requests and streams", async () => {
  const tunnels: string[] = [];
  const proxy = createHttpServer().on("connect", (request, socket: Socket) => {
    tunnels.push(request.url ?? "");
    const [host, port] = (request.url ?? "").split(":");
    const upstream = netConnect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    socket.on("error", () => upstream.destroy());
    upstream.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const kubeconfig = api.kubeconfig("proxied");
  const config = JSON.parse(readFileSync(kubeconfig, "utf8"));
  config.clusters[0].cluster["proxy-url"] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  writeFileSync(kubeconfig, JSON.stringify(config));
  const connection = await connect({ kubeconfig });
  opened.push(connection);
  expect((await connection.request({ method: "POST", path, body: { metadata: { name: "a" } } })).status).toBe(201);
  const stop = new AbortController();
  const stream = await connection.openStream({ ...get, query: { watch: true, resourceVersion: 0 } }, stop.signal);
  const [chunk] = await once(stream, "data");
  expect(String(chunk)).toContain("ADDED");
  stop.abort();
  expect(tunnels).toHaveLength(2);
  await api.down();
  expect(await failure(connection.request(get))).toMatchObject({ code: "api_unreachable" });
  await api.up();
  proxy.closeAllConnections();
  proxy.close();
});

test("errors hold no token", async () => {
  const connection = await open({ token: "top-secret-token" });
  api.hook = (_, response) => {
    answerStatus(response, 403, "Forbidden", "no");
    return true;
  };
  const refused = await failure(connection.request(get));
  await api.down();
  const down = await failure(connection.request(get));
  expect(inspect([refused, down], { depth: 10, showHidden: true })).not.toContain("top-secret");
  await api.up();
});

test("a stream that is refused gives the status; one that is cut breaks nothing", async () => {
  const connection = await open({ token: "t" });
  const signal = new AbortController().signal;
  api.hook = (_, response) => {
    answerStatus(response, 410, "Expired", "too old");
    return true;
  };
  expect(await failure(connection.openStream(get, signal))).toMatchObject({ httpStatus: 410, reason: "Expired" });
  api.hook = () => true;
  expect(await failure(connection.openStream({ ...get, timeoutMs: 50 }, signal))).toMatchObject({ code: "api_timeout" });
  api.hook = () => false;
  const stream = await connection.openStream({ ...get, query: { watch: true } }, signal);
  const closed = new Promise((resolve) => stream.once("close", resolve));
  api.cut(path);
  await closed;
});

test("many open watches leave room for requests", async () => {
  const connection = await open({ token: "t" });
  const stop = new AbortController();
  await Promise.all(Array.from({ length: 40 }, () => connection.openStream({ ...get, query: { watch: true } }, stop.signal)));
  expect((await connection.request({ ...get, timeoutMs: 30_000 })).status).toBe(200);
  stop.abort();
});
