import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { stableNames } from "./stable-names.ts";

test("names that others rely on have not changed; a new one is added to stable-names.txt, an old one is never taken out", () => {
  const known = readFileSync(new URL("stable-names.txt", import.meta.url), "utf8")
    .trim()
    .split("\n");
  expect(known.length).toBeGreaterThan(150);
  expect(stableNames()).toEqual(known);
});
