import { afterEach, expect, test, vi } from "vitest";
import { createRunClock } from "./run-clock.ts";

afterEach(() => void vi.restoreAllMocks());

test.each([-3_600_000, 900_000])("a step of the wall clock by %i ms is no time that passes", (step) => {
  const clock = createRunClock();
  const before = clock.now();
  const wall = Date.now();
  vi.spyOn(Date, "now").mockReturnValue(wall + step);
  expect(clock.now() - before).toBeGreaterThanOrEqual(0);
  expect(clock.now() - before).toBeLessThan(5000);
});

test("it begins with the wall's time, and may run faster", async () => {
  const clock = createRunClock(1000);
  const begun = clock.now();
  expect(Math.abs(begun - Date.now())).toBeLessThan(60_000);
  await clock.sleep(20_000);
  expect(clock.now() - begun).toBeGreaterThanOrEqual(19_000);
});
