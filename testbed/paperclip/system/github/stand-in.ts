import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createProxy } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GitServer, openGitServer } from "../../../suite/src/git-server.ts";

/**
 * What a pod's git takes for github.com: a proxy on loopback that leads to a git server here, and nowhere else. The host's credentials are for
 * https://github.com alone, and it has no setting for another GitHub.
 */
export interface GitHubStandIn {
  readonly git: GitServer;
  /** For the git of the pod. */
  readonly env: Readonly<Record<"HTTPS_PROXY" | "GIT_SSL_CAINFO", string>>;
  stop(): Promise<void>;
}

export async function openGitHub(password: string): Promise<GitHubStandIn> {
  const folder = mkdtempSync(join(tmpdir(), "github-"));
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = ["-subj", "/CN=github.com", "-addext", "subjectAltName=DNS:github.com"];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate, ...names];
  execFileSync("openssl", made, { stdio: "ignore" });
  const git = await openGitServer(password);
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, git.handle);
  const proxy = createProxy((_, response) => response.writeHead(405).end());
  proxy.on("connect", ({ url }, socket) => {
    socket.on("error", () => {});
    if (url !== "github.com:443") return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    server.emit("connection", socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    git,
    env: { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, GIT_SSL_CAINFO: certificate },
    stop: async () => {
      proxy.close();
      server.closeAllConnections();
      git.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
