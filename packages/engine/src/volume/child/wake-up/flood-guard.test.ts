import { expect, test } from "vitest";
import { FloodGuard } from "./flood-guard.ts";

/** How many of these are taken before it is too many. */
function taken(guard: FloodGuard, known: boolean, runs: number, everyMs: number): number {
  for (let count = 0; count < 10_000; count++) if (guard.count(known, runs, count * everyMs)) return count;
  return Number.POSITIVE_INFINITY;
}

test("two hundred that are nobody's within 100 ms are too many", () => {
  expect(taken(new FloodGuard(), false, 500, 0.01)).toBe(200);
  expect(taken(new FloodGuard(), false, 0, 0.6)).toBe(Number.POSITIVE_INFINITY);
});

test("as many as runs can send are not, more are", () => {
  // Two files each, every 5 ms.
  for (const runs of [1, 30, 50]) expect(taken(new FloodGuard(), true, runs, 5 / (2 * runs))).toBe(Number.POSITIVE_INFINITY);
  expect(taken(new FloodGuard(), true, 1, 0.01)).toBe(560);
  expect(taken(new FloodGuard(), true, 500, 0.01)).toBe(3_500);
});

test("pauses grow from one second to thirty, and begin anew after a calm minute", () => {
  const guard = new FloodGuard();
  let now = 0;
  const pauses = Array.from({ length: 7 }, () => {
    guard.opened(now);
    const { ms, first } = guard.pause(now);
    now += ms;
    return [ms, first];
  });
  expect(pauses.map(([ms]) => ms)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(pauses.map(([, first]) => first)).toEqual([true, false, false, false, false, false, false]);
  guard.opened(now);
  expect(guard.pause(now + 60_000)).toEqual({ ms: 1_000, first: true });
});

test("pauses grow as long as the socket cannot be opened again, and only the first of them is reported", () => {
  const guard = new FloodGuard();
  guard.opened(0);
  const pauses = [100_000, 101_000, 103_000].map((now) => guard.pause(now));
  expect(pauses).toEqual([
    { ms: 1_000, first: true },
    { ms: 2_000, first: false },
    { ms: 4_000, first: false },
  ]);
});
