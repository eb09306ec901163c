import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import type { ExecutionContext } from "../host/types.ts";
import { hostContext } from "../testing/host-context.ts";
import { type CancelWatch, watchCancel } from "./cancel.ts";
import { RunLog } from "./log.ts";

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

/** Of a host without abort signals, unless the changes add one. */
function context(changes: Partial<ExecutionContext>): { ctx: ExecutionContext; lines: string[] } {
  const lines: string[] = [];
  const change = { signal: undefined, onCancellationReady: undefined, ...changes };
  return { ctx: hostContext({ runId: "run-1", change, onLine: (line) => lines.push(line) }).ctx, lines };
}
const aborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve((signal.reason as Error).message)));

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
  watch = await watchCancel(ctx, new RunLog(ctx.onLog), { serverEnv: env, pollMs: 20 });
  expect(await aborted(watch.signal)).toMatch(/cancelled/);
  expect(seen).toHaveLength(5);
  expect(seen[0]).toBe("/api/heartbeat-runs/run-1 Bearer tok");
  expect(lines.filter((line) => line.includes("HTTP 500"))).toHaveLength(1);
  expect(lines.join("")).not.toContain("tok");
});

test("the status is asked for every 2.5 s: a cancel is heard within 3 s", async () => {
  const timers = vi.spyOn(globalThis, "setTimeout");
  const { ctx } = context({ authToken: "tok" });
  watch = await watchCancel(ctx, new RunLog(ctx.onLog), { serverEnv: { PAPERCLIP_LISTEN_PORT: "1" } });
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([2_500]);
  timers.mockRestore();
});

test("without address or token it logs once that cancelling is off", async () => {
  const { ctx, lines } = context({});
  watch = await watchCancel(ctx, new RunLog(ctx.onLog), { serverEnv: {} });
  expect(lines).toEqual([expect.stringMatching(/cancelling is off/)]);
});

test("the host's abort cancels, after the adapter has opted in", async () => {
  const controller = new AbortController();
  let ready = false;
  const onCancellationReady = async () => {
    ready = true;
  };
  const { ctx } = context({ signal: controller.signal, onCancellationReady });
  watch = await watchCancel(ctx, new RunLog(ctx.onLog), { serverEnv: {} });
  expect(ready).toBe(true);
  const reason = aborted(watch.signal);
  controller.abort(new Error("Cancelled by a board operator"));
  expect(await reason).toBe("Cancelled by a board operator");
});

test("after a lost lease a later cancel is still heard", async () => {
  const { env } = await startHost((count) => ({ status: count === 0 ? 503 : 200, body: { status: count < 3 ? "running" : "cancelled" } }));
  const controller = new AbortController();
  const { ctx } = context({ signal: controller.signal, onCancellationReady: async () => {}, authToken: "tok" });
  watch = await watchCancel(ctx, new RunLog(ctx.onLog), { serverEnv: env, pollMs: 20 });
  const reason = aborted(watch.signal);
  controller.abort(new Error("Legacy controller lease lost"));
  expect(await reason).toMatch(/cancelled/);
});

test("a lost lease is no cancel unless the host says so", async () => {
  for (const status of ["running", "cancelled"]) {
    const { env, seen } = await startHost(() => ({ status: 200, body: { status } }));
    const controller = new AbortController();
    const { ctx } = context({ signal: controller.signal, onCancellationReady: async () => {}, authToken: "tok" });
    watch = await watchCancel(ctx, new RunLog(ctx.onLog), { serverEnv: env, pollMs: 20 });
    const heard = aborted(watch.signal);
    controller.abort(new Error("Legacy controller lease lost"));
    if (status === "cancelled") expect(await heard).toMatch(/cancelled/);
    else await expect.poll(() => seen.length).toBeGreaterThan(2);
    expect(watch.signal.aborted).toBe(status === "cancelled");
    watch.stop();
    server?.close();
  }
});
