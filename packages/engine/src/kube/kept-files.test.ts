import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { KeptFiles } from "./kept-files.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "kept-files-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

test("a file that was rotated is read again after a minute, and not before", async () => {
  let now = 0;
  const files = new KeptFiles(() => now);
  const path = join(dir, "token");
  const read = async () => String(await files.read(path));
  writeFileSync(path, "one");
  expect(await read()).toBe("one");
  writeFileSync(path, "two");
  now = 59_999;
  expect(await read()).toBe("one");
  now = 60_000;
  expect(await read()).toBe("two");
});
