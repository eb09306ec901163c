import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRunClock } from "./clock.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000_000_000 }));
afterEach(() => void vi.useRealTimers());

test.each([-3_600_000, 900_000])("a step of the wall clock by %i ms is no time that passes", (step) => {
  const clock = createRunClock();
  const before = clock.now();
  vi.setSystemTime(Date.now() + step);
  expect(clock.now()).toBe(before);
  vi.advanceTimersByTime(250);
  expect(clock.now()).toBe(before + 250);
});

test("it begins with the wall's time, and may run faster", async () => {
  const clock = createRunClock(1000);
  const begun = clock.now();
  expect(begun).toBe(Date.now());
  let over = false;
  void clock.sleep(20_000).then(() => {
    over = true;
  });
  await vi.advanceTimersByTimeAsync(19);
  expect([clock.now() - begun, over]).toEqual([19_000, false]);
  await vi.advanceTimersByTimeAsync(1);
  expect([clock.now() - begun, over]).toEqual([20_000, true]);
});
