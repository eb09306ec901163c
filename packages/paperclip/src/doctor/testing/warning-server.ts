import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An API server that takes whatever it is given, and warns of it: the embedded cluster never warns. */
export async function startWarningServer(warning: string): Promise<{ readonly kubeconfig: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "warning-server-"));
  const server = createServer((request, response) => {
    response.writeHead(201, { "content-type": "application/json", warning: `299 - "${warning}"` });
    request.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfig = join(folder, "kubeconfig");
  const parts = {
    clusters: [{ name: "c", cluster: { server: url } }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  };
  writeFileSync(kubeconfig, JSON.stringify({ apiVersion: "v1", kind: "Config", "current-context": "x", ...parts }));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  };
  return { kubeconfig, stop };
}
