import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClock } from "./clock.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000_000_000 }));
afterEach(() => void vi.useRealTimers());

test.each([-3_600_000, 900_000])("a step of the wall clock by %i ms is no time that passes", (step) => {
  const clock = createClock();
  const before = clock.now();
  expect(before).toBe(Date.now());
  vi.setSystemTime(Date.now() + step);
  expect(clock.now()).toBe(before);
  vi.advanceTimersByTime(250);
  expect(clock.now()).toBe(before + 250);
});

test("a callback that throws keeps neither the others nor itself from the next round", async () => {
  const warned = new Promise<Error>((resolve) => void process.once("warning", resolve));
  const clock = createClock();
  const called: string[] = [];
  const stops = [
    clock.every(100, () => {
      called.push("first");
      throw new Error("of the first");
    }),
    clock.every(100, () => called.push("second")),
  ];
  vi.advanceTimersByTime(100);
  expect(called).toEqual(["first", "second"]);
  vi.advanceTimersByTime(100);
  expect(called).toEqual(["first", "second", "first", "second"]);
  expect((await warned).message).toBe("of the first");
  for (const stop of stops) stop();
  vi.advanceTimersByTime(1000);
  expect(called).toHaveLength(4);
  expect(vi.getTimerCount()).toBe(0);
});

test("an abort ends a sleep, which then does not reject", async () => {
  const clock = createClock();
  const stop = new AbortController();
  const asleep = clock.sleep(3_600_000, stop.signal);
  stop.abort(new Error("stop"));
  await asleep;
  await clock.sleep(3_600_000, stop.signal);
  expect(vi.getTimerCount()).toBe(0);
});

test("callbacks of one length come together, whenever each was added: hundreds of runs wake the process as often as one", () => {
  const clock = createClock();
  const at: number[] = [];
  for (const pause of [0, 40, 130]) {
    vi.advanceTimersByTime(pause);
    clock.every(250, () => at.push(Date.now() - 1_000_000_000_000));
  }
  vi.advanceTimersByTime(1000);
  expect(new Set(at)).toEqual(new Set([250, 500, 750, 1000]));
});
