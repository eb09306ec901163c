import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type CancelWatch, watchCancel } from "./cancel.ts";
import type { ExecutionContext } from "./host.ts";
import { LogSink } from "./log-sink.ts";

let server: Server | undefined;
let watch: CancelWatch | undefined;
afterEach(() => {
  watch?.stop();
  server?.close();
  server = undefined;
});

async function startHost(answer: (count: number) => { status: number; body: unknown }) {
  let count = 0;
  const seen: string[] = [];
  server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization}`);
    const { status, body } = answer(count++);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return { env: { PAPERCLIP_LISTEN_PORT: String((server.address() as AddressInfo).port) }, seen };
}

function context(changes: Partial<ExecutionContext>): { ctx: ExecutionContext; lines: string[] } {
  const lines: string[] = [];
  const onLog = async (_: string, chunk: string) => void lines.push(chunk);
  return { ctx: { runId: "run-1", onLog, ...changes } as ExecutionContext, lines };
}
const aborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve((signal.reason as Error).message)));
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("without a signal the run's status is asked for, and only cancelled counts", async () => {
  const answers = [
    { status: 200, body: { status: "running" } },
    { status: 500, body: {} },
    { status: 503, body: {} },
    { status: 200, body: { status: "interrupted" } },
    { status: 200, body: { status: "cancelled" } },
  ];
  const { env, seen } = await startHost((count) => answers[Math.min(count, 4)] ?? { status: 500, body: {} });
  const { ctx, lines } = context({ authToken: "tok" });
  watch = await watchCancel(ctx, new LogSink(ctx.onLog), { serverEnv: env, pollMs: 20 });
  expect(await aborted(watch.signal)).toMatch(/cancelled/);
  expect(seen).toHaveLength(5);
  expect(seen[0]).toBe("/api/heartbeat-runs/run-1 Bearer tok");
  expect(lines.filter((line) => line.includes("HTTP 500"))).toHaveLength(1);
  expect(lines.join("")).not.toContain("tok");
});

test("a cancel just after the status was read is heard within 3 s", async () => {
  let at = 0;
  const { env } = await startHost((count) => {
    if (count === 0) at = performance.now();
    return { status: 200, body: { status: count === 0 ? "running" : "cancelled" } };
  });
  const { ctx } = context({ authToken: "tok" });
  watch = await watchCancel(ctx, new LogSink(ctx.onLog), { serverEnv: env });
  await aborted(watch.signal);
  const took = performance.now() - at;
  console.log(`a cancel was heard ${Math.round(took)} ms after it, by the run's status`);
  expect(took).toBeLessThan(3000);
});

test("without address or token it says once that cancelling is off", async () => {
  const { ctx, lines } = context({});
  watch = await watchCancel(ctx, new LogSink(ctx.onLog), { serverEnv: {} });
  expect(lines).toEqual([expect.stringMatching(/cancelling is off/)]);
});

test("the host's abort cancels, after the adapter has opted in", async () => {
  const controller = new AbortController();
  let ready = false;
  const onCancellationReady = async () => {
    ready = true;
  };
  const { ctx } = context({ signal: controller.signal, onCancellationReady });
  watch = await watchCancel(ctx, new LogSink(ctx.onLog), { serverEnv: {} });
  expect(ready).toBe(true);
  const reason = aborted(watch.signal);
  controller.abort(new Error("Cancelled by a board operator"));
  expect(await reason).toBe("Cancelled by a board operator");
});

test("after a lost lease a later cancel is still heard", async () => {
  const { env } = await startHost((count) => ({ status: count === 0 ? 503 : 200, body: { status: count < 3 ? "running" : "cancelled" } }));
  const controller = new AbortController();
  const { ctx } = context({ signal: controller.signal, onCancellationReady: async () => {}, authToken: "tok" });
  watch = await watchCancel(ctx, new LogSink(ctx.onLog), { serverEnv: env, pollMs: 20 });
  const reason = aborted(watch.signal);
  controller.abort(new Error("Legacy controller lease lost"));
  expect(await reason).toMatch(/cancelled/);
});

test("a lost lease is no cancel unless the host says so", async () => {
  for (const [status, expected] of [
    ["running", false],
    ["cancelled", true],
  ] as const) {
    const { env } = await startHost(() => ({ status: 200, body: { status } }));
    const controller = new AbortController();
    const { ctx } = context({ signal: controller.signal, onCancellationReady: async () => {}, authToken: "tok" });
    watch = await watchCancel(ctx, new LogSink(ctx.onLog), { serverEnv: env });
    controller.abort(new Error("Legacy controller lease lost"));
    await wait(150);
    expect(watch.signal.aborted).toBe(expected);
    watch.stop();
    server?.close();
  }
});
