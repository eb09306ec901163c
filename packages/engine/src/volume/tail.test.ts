import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Question, ToReader } from "./protocol.ts";
import { Questions } from "./requests.ts";
import { FollowingTail } from "./tail.ts";

// The server's end alone: the test is the reader, and has time in its hand.

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function follow(onBytes: (bytes: Buffer) => Promise<void>) {
  const sent: ToReader[] = [];
  const send = (message: ToReader): void => void sent.push(message);
  const questions = new Questions(send, () => {});
  const tail = new FollowingTail({ onBytes }, { id: 1, path: "/volume/a", send, questions, closed: () => {} });
  const answer = (offset: number): void => {
    const { ask } = sent.findLast(({ type }) => type === "refresh") as Question;
    questions.answer({ type: "refreshed", ask, offset, missing: false });
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
  expect(await refreshed).toEqual({ delivered: 3, missingFile: false });
});

it("waits for a reader that makes progress, and no longer than told for one that does not", async () => {
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

it("takes only what follows on what has arrived: a reader that was replaced may still speak", async () => {
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
