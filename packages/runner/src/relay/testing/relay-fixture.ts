// A pod whose CLI only says where its relay is, and a target that counts what is delivered to it. For tests.
import { cpSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import type { RelayCredentials, RelaySpec } from "../../records.ts";
import { type Ended, type Options, type Pod, preparePod, type RunningRunner, shell, waitFor } from "../../testing/runner-fixture.ts";

export const FIRST: RelayCredentials = { token: "token-1", runId: "run-1" };
export const SECOND: RelayCredentials = { token: "token-2", runId: "run-2" };
export const CONFLICT = JSON.stringify({ error: "ownership conflict" });
export const own = { authorization: "Bearer token-1" };

/** Also another version of Node where `OTHER_NODE` names its program. */
export const RUNTIMES: readonly (readonly [string, Partial<Options>])[] = [
  ["Node", {}],
  ...(process.env.OTHER_NODE ? ([["another Node", { runtime: process.env.OTHER_NODE }]] as const) : []),
];

const CREDENTIALS = "credentials.json";

export const relaySpec = (target: string, maxSec = 30): RelaySpec => ({
  target,
  urlEnv: "API_URL",
  tokenEnv: "API_TOKEN",
  credentialsFile: CREDENTIALS,
  headers: { authorization: "Authorization", runId: "X-Run-Id" },
  retry: { statuses: [409], bodyPattern: "ownership conflict", maxSec },
  maxReplayBytes: 1024 * 1024,
});

export interface RelayedPod {
  readonly pod: Pod;
  readonly runner: RunningRunner;
  /** What the CLI got. */
  readonly url: string;
  readonly noProxy: readonly string[];
  /** Ends the run and gives its notes. */
  readonly end: () => Promise<{ ended: Ended; notes: string[] }>;
}

export async function startRelayedPod(relay: RelaySpec, options: Partial<Options> = {}): Promise<RelayedPod> {
  const argv = shell('echo "$API_URL|$NO_PROXY|$no_proxy"; exec sleep 600');
  const spec = { relay, env: { API_TOKEN: FIRST.token, API_URL: "http://overruled.invalid" }, ...options.spec };
  const pod = preparePod({ argv, ...options, spec, files: { [CREDENTIALS]: JSON.stringify(FIRST) } });
  const runner = pod.start();
  const said = (): string => readFileSync(pod.spec.files.output, "utf8");
  await waitFor(() => said().endsWith("\n"), "the CLI");
  const [url = "", ...noProxy] = said().trim().split("|");
  const end = async () => {
    runner.process.kill("SIGTERM");
    const ended = await runner.ended;
    return { ended, notes: ended.meta.flatMap((record) => (record.type === "note" ? [record.text] : [])) };
  };
  return { pod, runner, url, noProxy, end };
}

/** As the kubelet does it: a new folder, then `..data` replaced in one step, then the old folder gone. */
export function swapCredentials(pod: Pod, credentials: RelayCredentials | string): void {
  const mount = join(pod.folder, "in");
  const old = readlinkSync(join(mount, "..data"));
  const next = `${old}_`;
  cpSync(join(mount, old), join(mount, next), { recursive: true });
  writeFileSync(join(mount, next, CREDENTIALS), typeof credentials === "string" ? credentials : JSON.stringify(credentials));
  symlinkSync(next, join(mount, "..data_tmp"));
  renameSync(join(mount, "..data_tmp"), join(mount, "..data"));
  rmSync(join(mount, old), { recursive: true });
}

export interface Delivery {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface TestTarget {
  readonly url: string;
  readonly port: number;
  readonly deliveries: Delivery[];
  readonly close: () => void;
}

export type Handler = (delivery: Delivery, response: ServerResponse) => void;

const targets: TestTarget[] = [];

/** For `afterAll`. */
export function closeTargets(): void {
  for (const target of targets.splice(0)) target.close();
}

export async function startTarget(handle: Handler, port = 0): Promise<TestTarget> {
  const deliveries: Delivery[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("error", () => {});
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url: path = "", headers } = incoming;
      deliveries.push({ method, path, headers, body: Buffer.concat(chunks) });
      handle(deliveries.at(-1)!, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const bound = (server.address() as AddressInfo).port;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  targets.push({ url: `http://127.0.0.1:${bound}`, port: bound, deliveries, close });
  return targets.at(-1)!;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  readonly text: string;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
  readonly onData?: (text: string) => void;
}

export function ask(url: string, question: Question = {}): Promise<Answer> {
  const { method = "GET", headers = own, body, signal, onData } = question;
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false, ...(signal ? { signal } : {}) }, (response) => {
      const chunks: Buffer[] = [];
      response.on("error", reject);
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        onData?.(chunk.toString());
      });
      response.on("end", () => {
        const whole = Buffer.concat(chunks);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: whole, text: whole.toString() });
      });
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

/** Sends bytes as they are and gives all that comes back until the other side closes. */
export function askRaw(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.setTimeout(120_000, () => socket.destroy(new Error(`no end after ${JSON.stringify(answer)}`)));
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });
}
