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

/** Several runs of one company on a host that lists its live runs; `list`: what that list holds, null = the host hangs up. */
async function startRuns(list: (count: number) => { status: number; body: unknown } | null, own: (id: string) => string = () => "running") {
  const asked: string[] = [];
  let lists = 0;
  server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path.replace("/api", ""));
    const answer = path.includes("/live-runs") ? list(lists++) : { status: 200, body: { status: own(path.split("/").at(-1) ?? "") } };
    if (answer === null) request.socket.destroy();
    else response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const serverEnv = { PAPERCLIP_LISTEN_PORT: String((server.address() as AddressInfo).port) };
  const watches = new Map<string, CancelWatch>();
  const logs: string[][] = [];
  for (const runId of ["run-1", "run-2", "run-3"]) {
    const { ctx, lines } = context({ authToken: `token-of-${runId}`, runId });
    logs.push(lines);
    watches.set(runId, await watchCancel(ctx, new RunLog(ctx.onLog), { serverEnv, pollMs: 20 }));
  }
  const stop = () => {
    for (const each of watches.values()) each.stop();
  };
  return { asked, watches, stop, logs };
}
const LIST = "/companies/company-1/live-runs?limit=50";
const live = (...ids: string[]) => ids.map((id) => ({ id, status: "running" }));

test("all runs of a company are asked for by one request; one that is not in the list is asked for by itself", async () => {
  const { asked, watches, stop } = await startRuns(
    (count) => ({ status: 200, body: count < 5 ? live("run-1", "run-2", "run-3", "another") : live("run-1", "run-3") }),
    () => "cancelled",
  );
  const signal = watches.get("run-2")!.signal;
  expect(await aborted(signal)).toMatch(/cancelled/);
  expect(asked).toEqual([...Array(6).fill(LIST), "/heartbeat-runs/run-2"]);
  await expect.poll(() => asked.length).toBeGreaterThan(9);
  stop();
  expect(new Set(asked.slice(7))).toEqual(new Set([LIST]));
  expect([watches.get("run-1")?.signal.aborted, watches.get("run-3")?.signal.aborted]).toEqual([false, false]);
});

test("a status in the list counts as much as one that is asked for alone", async () => {
  const { watches, stop } = await startRuns(() => ({
    status: 200,
    body: [{ id: "run-3", status: "cancelling" }, ...live("run-1", "run-2")],
  }));
  expect(await aborted(watches.get("run-3")!.signal)).toMatch(/cancelling/);
  stop();
});

test.each([404, 403, 500])(
  "a host that answers the list with %s is asked for each run, and not for the list again soon",
  async (status) => {
    const { asked, watches, stop } = await startRuns(
      () => ({ status, body: {} }),
      (id) => (id === "run-1" && asked.length > 20 ? "cancelled" : "running"),
    );
    expect(await aborted(watches.get("run-1")!.signal)).toMatch(/cancelled/);
    stop();
    expect(asked.filter((path) => path === LIST)).toHaveLength(1);
  },
);

test("a list that never answers hides no cancel, is asked for less and less often, and is no run's problem", async () => {
  const { asked, watches, stop, logs } = await startRuns(
    () => null,
    (id) => (id === "run-2" ? "cancelled" : "running"),
  );
  expect(await aborted(watches.get("run-2")!.signal)).toMatch(/cancelled/);
  expect(asked.indexOf("/heartbeat-runs/run-2")).toBeGreaterThan(asked.indexOf(LIST));
  await expect.poll(() => asked.filter((path) => path === LIST).length).toBeGreaterThan(3);
  stop();
  const rounds = asked.filter((path) => path === LIST || path === "/heartbeat-runs/run-1");
  const between = rounds.flatMap((path, at) => (path === LIST ? [at] : [])).map((at, nth, all) => at - (all[nth - 1] ?? 0));
  // In each round without it, and in the one in which it did not answer, the run was asked for by itself.
  expect(between.slice(1, 4)).toEqual([3, 4, 6]);
  expect(logs.flat().filter((line) => line.includes("cannot be read"))).toEqual([]);
});

test.each([[null], ["text"], [{ id: 1 }], [[null, 3, { id: "run-1" }, { id: {}, status: [] }]]])(
  "a list that is none (%j) hides no cancel",
  async (body) => {
    const { watches, stop } = await startRuns(
      () => ({ status: 200, body }),
      () => "cancelled",
    );
    await Promise.all([...watches.values()].map(({ signal }) => signal.aborted || aborted(signal)));
    stop();
  },
);

test("a run that is stopped twice does not part those that came after it", async () => {
  const { asked, watches, stop } = await startRuns(() => ({ status: 200, body: live("run-4", "run-5") }));
  stop();
  const serverEnv = { PAPERCLIP_LISTEN_PORT: String((server!.address() as AddressInfo).port) };
  const later: CancelWatch[] = [];
  for (const runId of ["run-4", "run-5"]) {
    const { ctx } = context({ authToken: "tok", runId });
    later.push(await watchCancel(ctx, new RunLog(ctx.onLog), { serverEnv, pollMs: 20 }));
    watches.get("run-1")?.stop();
  }
  const from = asked.length;
  await expect.poll(() => asked.slice(from)).toContain(LIST);
  for (const each of later) each.stop();
});

test("the last run of a company is asked for alone, and nothing is asked for when it has ended", async () => {
  const { asked, watches, stop } = await startRuns(() => ({ status: 200, body: live("run-1", "run-2", "run-3") }));
  await expect.poll(() => asked.length).toBeGreaterThan(2);
  watches.get("run-1")?.stop();
  watches.get("run-2")?.stop();
  await expect.poll(() => asked.filter((path) => path === "/heartbeat-runs/run-3").length).toBeGreaterThan(2);
  stop();
  // One request may be under way. A poll that went on would never stand still.
  for (let count = -1; count !== asked.length; await new Promise((resolve) => setTimeout(resolve, 200))) count = asked.length;
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

test("a host whose database is away for a moment hears again that the run can be cancelled; one that stays away is trouble that passes", async () => {
  vi.useFakeTimers();
  const log = new RunLog(async () => {});
  let failures = 2;
  const tell = (onCancellationReady: () => Promise<void>) =>
    watchCancel(context({ signal: new AbortController().signal, onCancellationReady }).ctx, log, { serverEnv: {} });
  const soon = tell(async () => {
    if (failures-- > 0) throw new Error("Failed query: connection terminated");
  });
  await vi.advanceTimersByTimeAsync(2_000);
  watch = await soon;
  expect(failures).toBe(-1);
  const never = tell(async () => Promise.reject(new Error("Failed query: connection terminated"))).catch((error: Error) => error);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await never).toMatchObject({ name: "HostTrouble", message: expect.stringContaining("connection terminated") });
  vi.useRealTimers();
});
