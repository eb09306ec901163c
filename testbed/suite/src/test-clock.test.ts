import { expect, test } from "vitest";
import { createTestClock } from "./test-clock.ts";

test("an hour passes at once, and each timer is called as often as in a real one", async () => {
  const clock = createTestClock();
  const begun = clock.now();
  const called: number[] = [];
  const stop = clock.every(600_000, () => called.push(Math.round((clock.now() - begun) / 60_000)));
  await clock.advance(3_600_000);
  // The first call comes at the next common moment of all timers of this length, so an hour has five or six of them.
  const count = called.length;
  expect([5, 6]).toContain(count);
  expect(new Set(called.slice(1).map((at, index) => at - called[index]!))).toEqual(new Set([10]));
  stop();
  await clock.advance(3_600_000);
  expect(called).toHaveLength(count);
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
