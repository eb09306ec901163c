import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SelfCheckConfig, SelfCheckFinding } from "./self-check-records.ts";

// The bundled text, run as a pod runs it.

let folder: string;
let host: Server;
let url: string;
let text: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "self-check-"));
  host = createServer((request, response) => response.writeHead(request.url === "/health" ? 200 : 503).end());
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const entryPoints = [fileURLToPath(new URL("self-check.ts", import.meta.url))];
  text = buildSync({ entryPoints, bundle: true, platform: "node", format: "cjs", target: "node18", write: false }).outputFiles[0]!.text;
});
afterAll(() => {
  host.close();
  rmSync(folder, { recursive: true, force: true });
});

async function check(order: Partial<SelfCheckConfig>): Promise<Record<string, SelfCheckFinding>> {
  const whole: SelfCheckConfig = { cli: process.execPath, url: null, folders: {}, timeoutMs: 60_000, ...order };
  const env = { PATH: process.env.PATH, HOME: folder };
  const stdout = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, ["-e", text, JSON.stringify(whole)], { env }, (error, out) => (error ? reject(error) : resolve(out)));
  });
  const lines = stdout.trimEnd().split("\n");
  return Object.fromEntries(lines.map((line) => JSON.parse(line) as SelfCheckFinding).map((finding) => [finding.check, finding]));
}

test("what is good", async () => {
  const found = await check({ url: `${url}/health`, folders: { home: "$HOME", work: folder } });
  expect(found).toMatchObject({
    runtime: { ok: true, detail: expect.stringContaining(`node ${process.version}`) },
    cli: { ok: true, detail: process.version },
    url: { ok: true, detail: `${url}/health: 200` },
    "folder:home": { ok: true, detail: folder },
    "folder:work": { ok: true },
  });
});

test("what is not: named, and never an exit code of its own", async () => {
  const sealed = join(folder, "not-there");
  const found = await check({ cli: "no-such-cli", url: `${url}/down`, folders: { home: "$NOWHERE", work: sealed } });
  expect(found).toMatchObject({
    cli: { ok: false, detail: expect.stringMatching(/^no-such-cli is not in PATH \//) },
    url: { ok: false, detail: `${url}/down: 503` },
    "folder:home": { ok: false, detail: "$NOWHERE is not set" },
    "folder:work": { ok: false, detail: `${sealed}: ENOENT` },
  });
});

test("a host that is not there, a URL that is none, a CLI that fails or hangs", async () => {
  expect((await check({ url: "http://127.0.0.1:1/health" })).url).toMatchObject({
    ok: false,
    detail: expect.stringContaining("ECONNREFUSED"),
  });
  expect((await check({ url: "nonsense" })).url).toMatchObject({ ok: false });
  expect((await check({ cli: "false" })).cli).toMatchObject({ ok: false, detail: expect.stringMatching(/^false --version ended with 1/) });
  const hanging = join(folder, "hanging");
  writeFileSync(hanging, "#!/bin/sh\nexec sleep 10\n", { mode: 0o755 });
  expect((await check({ cli: hanging, timeoutMs: 300 })).cli?.detail).toBe(`${hanging} --version did not answer in 0.3 s`);
});
