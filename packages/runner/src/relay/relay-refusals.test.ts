import { connect } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { RUNNER_EXIT } from "../records.ts";
import { cleanUp, preparePod, runPod, waitFor } from "../testing/runner-fixture.ts";
import { ask, askRaw, closeTargets, own, RUNTIMES, relaySpec, startRelayedPod, startTarget } from "./testing/relay-fixture.ts";

afterAll(() => {
  cleanUp();
  closeTargets();
});

describe.concurrent.each(RUNTIMES)("what the relay refuses, under %s", (_, runtime) => {
  test("to be a proxy, and what it cannot read; the run goes on", async () => {
    const other = await startTarget((_delivery, response) => response.end("other"));
    const target = await startTarget((_delivery, response) => response.end("fine"));
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const cases: [string, number][] = [
      [`GET ${other.url}/x HTTP/1.1\r\nHost: x\r\n\r\n`, 400],
      [`GET http://${"x".repeat(10)}/ HTTP/1.1\r\nHost: x\r\n\r\n`, 400],
      [`CONNECT 127.0.0.1:${other.port} HTTP/1.1\r\nHost: x\r\n\r\n`, 405],
      ["OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 400],
      ["GET /x HTTP/2.0\r\nHost: x\r\n\r\n", 400],
      ["GET /x HTTP/1.1\r\n\r\n", 400],
      ["GET /x HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400],
      ["\x16\x03\x01 no HTTP\r\n\r\n", 400],
      ["PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400],
      ["PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: -3\r\n\r\n", 400],
      ["PUT /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400],
      [`GET /x HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(70_000)}\r\n\r\n`, 431],
    ];
    for (const [text, status] of cases) expect(await askRaw(relayed.url, text), text.slice(0, 60)).toContain(`HTTP/1.1 ${status} `);
    expect([...target.deliveries, ...other.deliveries]).toEqual([]);
    // A path that looks like another host is still a path.
    await askRaw(relayed.url, `GET //127.0.0.1:${other.port}/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(target.deliveries.map(({ path }) => path)).toEqual([`//127.0.0.1:${other.port}/x`]);
    expect(other.deliveries).toEqual([]);
    expect(await ask(`${relayed.url}/x`)).toMatchObject({ status: 200, text: "fine" });
    await relayed.end();
  });

  test("a tunnel, with a reason; a client that then breaks off costs the run nothing", async () => {
    const target = await startTarget((_delivery, response) => response.end("fine"));
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const text = "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n";
    expect(await askRaw(relayed.url, text)).toContain("this is no proxy: CONNECT is refused");
    for (let count = 0; count < 20; count++) {
      const socket = connect(Number(new URL(relayed.url).port), "127.0.0.1", () => socket.write(text, () => socket.resetAndDestroy()));
      await new Promise((resolve) => socket.on("error", () => {}).on("close", resolve));
    }
    expect(await ask(`${relayed.url}/x`)).toMatchObject({ status: 200, text: "fine" });
    expect((await relayed.end()).ended).toMatchObject({ code: 143, end: { cause: "stopped" } });
  });

  test("open connections neither hold up the end nor survive it", async () => {
    const target = await startTarget((_delivery, response) => void response.write("never ends"));
    const relayed = await startRelayedPod(relaySpec(target.url), runtime);
    const port = Number(new URL(relayed.url).port);
    let started = false;
    const asked = ask(`${relayed.url}/x`, { onData: () => (started = true) });
    asked.catch(() => {});
    await waitFor(() => started, "the answer to begin");
    const { ended } = await relayed.end();
    expect(ended.code).toBe(143);
    await expect(asked).rejects.toThrow();
    const refused = await new Promise((resolve) => connect(port, "127.0.0.1").on("error", resolve));
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
  });

  test("proxies set for the pod are not asked, neither by the relay nor for it", async () => {
    const target = await startTarget((_delivery, response) => response.end("direct"));
    const proxy = { HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9", NO_PROXY: "", no_proxy: "svc.local" };
    const relayed = await startRelayedPod(relaySpec(target.url), { ...runtime, env: { ...runtime.env, ...proxy } });
    expect(relayed.noProxy).toEqual(["svc.local,127.0.0.1,localhost", "svc.local,127.0.0.1,localhost"]);
    expect(await ask(`${relayed.url}/x`, { headers: own })).toMatchObject({ text: "direct" });
    await relayed.end();
  });
});

test("a relay that is not complete is a bad spec, and its text stays secret", async () => {
  for (const change of [{ target: "ftp://hush" }, { retry: { statuses: [409], bodyPattern: "(hush", maxSec: 1 } }, { urlEnv: "" }]) {
    const ended = await runPod({ argv: ["true"], spec: { relay: { ...relaySpec("http://hush"), ...change } } });
    expect(ended.code).toBe(RUNNER_EXIT.badSpec);
    expect(ended.message.error).toContain("relay");
    expect(ended.rawMessage?.toString() + ended.stderr).not.toContain("hush");
  }
});

test("without credentials in the Secret requests are passed on as they are", async () => {
  const target = await startTarget(({ headers }, response) => response.end(headers.authorization));
  const relayed = await startRelayedPod({ ...relaySpec(target.url), credentialsFile: "not-there" });
  expect(await ask(`${relayed.url}/x`)).toMatchObject({ text: own.authorization });
  await relayed.end();
});

test("without a relay the CLI's environment is as the spec has it", async () => {
  const argv = ["/bin/sh", "-c", 'echo "$API_URL|$NO_PROXY"'] as const;
  const pod = preparePod({ argv, env: { HTTP_PROXY: "http://p", NO_PROXY: "a" }, spec: { relay: null, env: { API_URL: "http://api" } } });
  expect((await pod.start().ended).stdout.toString()).toBe("http://api|a\n");
});
