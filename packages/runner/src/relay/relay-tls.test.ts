import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanUp } from "../testing/runner-fixture.ts";
import { ask, FIRST, RUNTIMES, relaySpec, startRelayedPod } from "./testing/relay-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "relay-tls-"));
const certificate = join(folder, "cert.pem");
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
let server: Server | undefined;
let port = 0;

beforeAll(async () => {
  if (!hasOpenssl) return;
  const key = join(folder, "key.pem");
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate, ...subject],
    {
      stdio: "ignore",
    },
  );
  const started = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => {
    response.end(`${request.headers.host} ${request.headers.authorization}`);
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  ({ port } = started.address() as AddressInfo);
});

afterAll(() => {
  cleanUp();
  server?.close();
  server?.closeAllConnections();
  rmSync(folder, { recursive: true });
});

describe.skipIf(!hasOpenssl).concurrent.each(RUNTIMES)("a target with https, under %s", (_, runtime) => {
  test.for(["localhost", "127.0.0.1"])("%s, with a certificate the CLI's environment names", async (host) => {
    const env = { API_TOKEN: FIRST.token, NODE_EXTRA_CA_CERTS: certificate };
    const relayed = await startRelayedPod(relaySpec(`https://${host}:${port}/api`), { ...runtime, spec: { env } });
    expect(relayed.url).toMatch(/^http:\/\/127.0.0.1:\d+\/api$/);
    for (let n = 0; n < 3; n++)
      expect(await ask(`${relayed.url}/x`)).toMatchObject({ status: 200, text: `${host}:${port} Bearer token-1` });
    await relayed.end();
  });

  test("a certificate nobody vouches for is not accepted, and not asked again", async () => {
    const relayed = await startRelayedPod(relaySpec(`https://localhost:${port}`), runtime);
    const { status, text } = await ask(`${relayed.url}/x`);
    expect(status).toBe(502);
    expect(text).toMatch(/cannot connect \(.*(SELF_SIGNED|CERT).*\)/);
    expect((await relayed.end()).notes).toEqual([expect.stringMatching(/^relay: 1 requests failed/)]);
  });
});
