import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { hostContext } from "../../testing/host-context.ts";
import { hostRecord, isRecorded } from "./host-record.ts";

const events: { seq: number; message: string }[] = [];
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(`${request.headers.authorization} ${request.url}`);
  const after = Number(new URL(request.url ?? "", "http://host").searchParams.get("afterSeq"));
  response.end(JSON.stringify(events.filter(({ seq }) => seq > after)));
});
let serverEnv: NodeJS.ProcessEnv;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  serverEnv = { PAPERCLIP_LISTEN_PORT: String((server.address() as AddressInfo).port) };
});
afterAll(() => server.close());

const { ctx } = hostContext({ runId: "r1", change: { authToken: "t" } });

test("the host has finished when it has cleaned up behind the run, and is asked only for what is new", async () => {
  const record = hostRecord(ctx, serverEnv);
  events.push({ seq: 3, message: "run failed" });
  expect(await record?.isFinished()).toBe(false);
  events.push({ seq: 4, message: "Scheduled bounded retry 1/2 for 2026-11-15T10:35:30.717Z" });
  expect(await record?.isFinished()).toBe(false);
  events.push({ seq: 5, message: "run scratch cleaned" });
  expect(await record?.isFinished()).toBe(true);
  expect(asked).toEqual([0, 3, 4].map((seq) => `Bearer t /api/heartbeat-runs/r1/events?afterSeq=${seq}`));
});

test("a host that ends with another event, or does not answer, is believed after a silence", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const record = hostRecord(ctx, { PAPERCLIP_LISTEN_PORT: "1" });
    expect(await record?.isFinished()).toBe(false);
    vi.advanceTimersByTime(9000);
    expect(await record?.isFinished()).toBe(false);
    vi.advanceTimersByTime(2000);
    expect(await record?.isFinished()).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test("without a token nothing can be asked", () => {
  expect(hostRecord({ ...ctx, authToken: undefined }, serverEnv)).toBeNull();
});

test("calls that hang do not prolong a drain", async () => {
  const never = () => new Promise<never>(() => {});
  const good = {
    stored: async () => {},
    run: async () => ({ status: "failed", errorCode: "k8s_detached" }),
    isFinished: async () => true,
  };
  for (const hanging of [{ stored: never }, { run: never }, { isFinished: never }])
    expect(await isRecorded({ ...good, ...hanging }, Date.now() + 50)).toBe(false);
  expect(await isRecorded(good, Date.now() + 60_000)).toBe(true);
});
