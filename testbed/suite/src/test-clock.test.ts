import { expect, test } from "vitest";
import { createTestClock } from "./test-clock.ts";

test("an hour passes at once, and each timer is called as often as in a real one", async () => {
  const clock = createTestClock();
  const begun = clock.now();
  const called: number[] = [];
  const stop = clock.every(600_000, () => called.push(Math.round((clock.now() - begun) / 60_000)));
  await clock.advance(3_600_000);
  expect(called).toEqual([10, 20, 30, 40, 50, 60]);
  stop();
  await clock.advance(3_600_000);
  expect(called).toHaveLength(6);
});

test("what is set on the way is called on the way", async () => {
  const clock = createTestClock();
  const begun = clock.now();
  const naps = (async () => {
    for (let nap = 0; nap < 3; nap++) await clock.sleep(20_000);
    return Math.round((clock.now() - begun) / 1000);
  })();
  await clock.advance(70_000);
  expect(await naps).toBe(60);
});

test("an abort ends a sleep without time passing", async () => {
  const clock = createTestClock();
  const stop = new AbortController();
  const asleep = clock.sleep(3_600_000, stop.signal);
  stop.abort();
  await asleep;
  await clock.sleep(3_600_000, stop.signal);
  expect(await clock.hurry(Promise.resolve("done"))).toBe("done");
});
