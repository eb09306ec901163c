import { expect, test } from "vitest";
import { largest, median, percentile, spread, table } from "./figures.ts";

const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

test("percentiles do not depend on the order, and the highest is the largest value", () => {
  expect([median(hundred), percentile(hundred, 0.99), largest(hundred)]).toEqual([51, 100, 100]);
  expect(spread([1, 2, 3])).toBe("2 / 3 / 3 ms");
});

test("of nothing there is no figure, so that no budget is held by it", () => {
  expect(median([]) <= 1).toBe(false);
  expect(largest([]) <= 1).toBe(false);
});

test("a row without a budget is neither ok nor over", () => {
  const row = { what: "a", budget: "1 ms", measured: "2 ms" };
  expect(
    table([
      { ...row, ok: true },
      { ...row, ok: false },
      { ...row, ok: null },
    ])
      .split("\n")
      .slice(2),
  ).toEqual(["| a | 1 ms | 2 ms | ok |", "| a | 1 ms | 2 ms | **over** |", "| a | 1 ms | 2 ms |  |"]);
});
