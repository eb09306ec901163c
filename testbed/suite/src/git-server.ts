import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** One repository, `acme/app.git`, behind git's own smart-HTTP program, and the one password that opens it at a time. */
export interface GitServer {
  readonly handle: RequestListener;
  /** Accepted from now on, and no other. */
  password: string;
  /** Author and subject of each commit on `main`, oldest first. */
  commits(): Promise<string[]>;
  close(): void;
}

export const REPOSITORY = "acme/app.git";

export async function openGitServer(password: string): Promise<GitServer> {
  const root = mkdtempSync(join(tmpdir(), "git-server-"));
  const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
  const git = async (...args: string[]) => (await promisify(execFile)("git", args, { cwd: root, env })).stdout;
  await git("init", "-q", "--bare", "-b", "main", REPOSITORY);
  await git("-C", REPOSITORY, "config", "http.receivepack", "true");
  const server: GitServer = {
    password,
    handle: (request, response) => {
      const login = Buffer.from((request.headers.authorization ?? "").replace(/^Basic /, ""), "base64").toString();
      if (login === `x-access-token:${server.password}`) return answer(request, response, { ...env, GIT_PROJECT_ROOT: root });
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    },
    commits: async () => (await git("-C", REPOSITORY, "log", "--reverse", "--format=%an: %s", "main")).trim().split("\n"),
    close: () => rmSync(root, { recursive: true, force: true }),
  };
  return server;
}

/** As a CGI program is asked. */
function answer(request: IncomingMessage, response: ServerResponse, env: NodeJS.ProcessEnv): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://x");
  const { headers, method } = request;
  const backend = spawn("git", ["http-backend"], {
    stdio: ["pipe", "pipe", "ignore"],
    env: {
      ...env,
      ...{ GIT_HTTP_EXPORT_ALL: "1", REMOTE_USER: "agent", REQUEST_METHOD: method, PATH_INFO: pathname, QUERY_STRING: search.slice(1) },
      CONTENT_TYPE: headers["content-type"],
      HTTP_CONTENT_ENCODING: headers["content-encoding"],
      GIT_PROTOCOL: headers["git-protocol"]?.toString(),
    },
  });
  request.pipe(backend.stdin).on("error", () => {});
  const chunks: Buffer[] = [];
  backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  backend.on("close", () => {
    const whole = Buffer.concat(chunks);
    const end = whole.indexOf("\r\n\r\n");
    const fields = whole.subarray(0, end).toString().split("\r\n");
    const values = Object.fromEntries(fields.map((field) => field.split(": ") as [string, string]));
    const { Status = "200", ...rest } = values;
    response.writeHead(Number.parseInt(Status, 10), rest).end(whole.subarray(end + 4));
  });
}
