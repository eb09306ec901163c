import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("the generated catalogue is made by the generator as it is now", () => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const [head] = read("generated/catalogue.ts").split("\n", 1);
  expect(head).toContain(createHash("sha256").update(read("generate/catalogue.ts")).digest("hex"));
});
