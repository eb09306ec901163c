import { expect, test } from "vitest";
import { RunTrust } from "./run-trust.ts";

const times = (count: number, work: () => void): void => {
  for (let each = 0; each < count; each++) work();
};

test("a run is polled as usual until six growths in a row were announced, then less and less often, up to a second", () => {
  const trust = new RunTrust();
  const intervals = [0, 5, 6, 7, 20, 100].map((count, index, counts) => {
    times(count - (counts[index - 1] ?? 0), () => trust.announced());
    return [trust.interval(20), trust.interval(250)];
  });
  expect(intervals).toEqual([
    [20, 250],
    [20, 250],
    [80, 1000],
    [80, 1000],
    [580, 1000],
    [1000, 1000],
  ]);
});

test("one that was missed takes it back at once, and makes it twice as hard to get", () => {
  const trust = new RunTrust();
  let lost = 0;
  trust.onLost = () => lost++;
  trust.missed();
  expect(lost).toBe(0);
  times(12, () => trust.announced());
  expect(trust.interval(20)).toBe(80);
  trust.missed();
  expect([trust.interval(20), lost]).toEqual([20, 1]);
  times(23, () => trust.announced());
  expect(trust.interval(20)).toBe(20);
  trust.announced();
  expect(trust.interval(20)).toBe(80);
});

test("a way that is good for long is trusted again as in the beginning", () => {
  const trust = new RunTrust();
  times(2, () => trust.missed());
  times(1000, () => trust.announced());
  trust.lose();
  times(6, () => trust.announced());
  expect(trust.interval(20)).toBe(80);
});

test("where other runs' wake-ups arrive, a new run is polled less from its beginning, until it misses one", () => {
  const way = { inRow: 0 };
  const [first, another, second] = [new RunTrust(way), new RunTrust(way), new RunTrust(way)];
  times(3, () => first.announced());
  times(2, () => another.announced());
  expect(second.interval(20)).toBe(20);
  another.announced();
  expect([second.interval(20), second.interval(250)]).toEqual([250, 250]);
  second.missed();
  expect([second.interval(20), new RunTrust(way).interval(20)]).toEqual([20, 20]);
});
