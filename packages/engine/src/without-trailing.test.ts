import { expect, test } from "vitest";
import { withoutTrailing } from "./without-trailing.ts";

test.each<[text: string, keep: number, rest: string]>([
  ["/a/b//", 0, "/a/b"],
  ["/a", 0, "/a"],
  ["///", 0, ""],
  ["///", 1, "/"],
  ["", 1, ""],
])("%j without slashes at its end, %i kept", (text, keep, rest) => {
  expect(withoutTrailing(text, "/", keep)).toBe(rest);
});

test("a long run that is not at the end costs nothing", () => {
  const text = `${"/".repeat(4_000_000)}x`;
  expect(withoutTrailing(text, "/")).toBe(text);
});
