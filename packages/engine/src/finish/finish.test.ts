import { expect, test } from "vitest";
import { remember } from "./finish.ts";

test("the last thousand finished Jobs are known", () => {
  const finished = new Map<string, () => void>();
  for (let n = 0; n <= 1000; n++) remember(finished, `uid-${n}`, () => {});
  expect(finished.size).toBe(1000);
  expect(finished.has("uid-0")).toBe(false);
  expect(finished.has("uid-1")).toBe(true);
});
