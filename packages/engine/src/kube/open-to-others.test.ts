import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Credentials, openToOthers } from "./credentials.ts";

test.each([
  ["http://10.0.0.1:6443", false, /in clear text/],
  ["https://10.0.0.1:6443", true, /is not verified/],
  ["https://10.0.0.1:6443", false, null],
  ["http://127.0.0.1:6443", false, null],
  ["http://localhost:6443", false, null],
  ["http://[::1]:6443", false, null],
])("%s, unverified %s: %s", (server, skipTLSVerify, warning) => {
  const text = openToOthers({ server, skipTLSVerify });
  if (warning === null) expect(text).toBeNull();
  else expect(text).toMatch(warning);
});

test("an address without TLS is said once in the server's log", async () => {
  const folder = mkdtempSync(join(tmpdir(), "open-to-others-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, "kubeconfig");
  const clusters = [{ name: "c", cluster: { server: "http://192.0.2.1:1" } }];
  const contexts = [{ name: "c", context: { cluster: "c", user: "u" } }];
  writeFileSync(kubeconfig, JSON.stringify({ clusters, contexts, users: [{ name: "u", user: {} }], "current-context": "c" }));
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  for (let count = 0; count < 2; count++) await Credentials.load({ kubeconfig });
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([expect.stringContaining("192.0.2.1:1 in clear text")]);
});
