import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Request, ToVolume } from "./protocol.ts";
import { PendingRequests } from "./requests.ts";
import { FollowingTail } from "./tail.ts";

// The server's end alone: the test plays the process, with fake timers.

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function follow(onBytes: (bytes: Buffer) => Promise<void>) {
  const sent: ToVolume[] = [];
  const send = (message: ToVolume): void => void sent.push(message);
  const requests = new PendingRequests("/volume", send, () => {});
  const tail = new FollowingTail({ onBytes }, { id: 1, path: "/volume/a", send, requests, closed: () => {} });
  const answer = (offset: number): void => {
    const { ask } = sent.findLast(({ type }) => type === "refresh") as Request;
    requests.answer({ type: "done", ask, result: offset });
  };
  return { tail, answer };
}

it("does not blame the volume while the consumer takes its time", async () => {
  const held = Promise.withResolvers<void>();
  const { tail, answer } = follow(() => held.promise);
  tail.receive(0, Buffer.from("abc"));
  const refreshed = tail.refresh(50);
  await vi.advanceTimersByTimeAsync(60_000);
  answer(3);
  held.resolve();
  expect(await refreshed).toEqual({ delivered: 3 });
});

it("waits while bytes arrive, and no longer than the timeout when none do", async () => {
  const { tail } = follow(() => Promise.resolve());
  let end: unknown = "waiting";
  tail.refresh(50).catch((error: unknown) => {
    end = error;
  });
  for (let offset = 0; offset < 10; offset++) {
    tail.receive(offset, Buffer.from("x"));
    await vi.advanceTimersByTimeAsync(50);
  }
  expect([tail.delivered, end]).toEqual([10, "waiting"]);
  await vi.advanceTimersByTimeAsync(49);
  expect(end).toBe("waiting");
  await vi.advanceTimersByTimeAsync(1);
  expect(end).toMatchObject({ code: "volume_stalled", path: "/volume/a" });
});

it("takes only what follows on what has arrived: a process that was replaced may still send", async () => {
  const taken: string[] = [];
  const { tail } = follow(async (bytes) => void taken.push(bytes.toString()));
  for (const [offset, text] of [
    [0, "ab"],
    [0, "ab"],
    [5, "f"],
    [1, "bc"],
    [2, "cd"],
  ] as const)
    tail.receive(offset, Buffer.from(text));
  await vi.advanceTimersByTimeAsync(0);
  expect([taken.join(""), tail.delivered]).toEqual(["abcd", 4]);
});
