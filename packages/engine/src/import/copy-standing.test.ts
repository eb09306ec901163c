import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyStanding } from "./child/copy-standing.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "import-standing-"));
  writeFileSync(join(root, "db"), "pages");
  writeFileSync(join(root, "db-wal"), "log");
});
afterEach(() => rmSync(root, { recursive: true }));

const budget = (onBytes: () => void) => ({ maxBytes: 100, left: 100, bytes: 0, files: 0, onBytes });

test("a database that changes while it is copied is copied again", async () => {
  let changes = 2;
  const used = budget(() => {
    if (changes-- > 0) appendFileSync(join(root, "db-wal"), "+");
  });
  await copyStanding(root, join(root, "db"), join(root, "copy"), used);
  expect(readFileSync(join(root, "copy-wal"), "utf8")).toBe("log++");
  expect(used).toMatchObject({ bytes: 10, files: 2 });
});

test("one that changes each time is left for the next run, and no copy stays", async () => {
  let at = 1;
  const used = budget(() => utimesSync(join(root, "db"), at, at++));
  await expect(copyStanding(root, join(root, "db"), join(root, "copy"), used)).rejects.toMatchObject({ kind: "stalled" });
  expect(existsSync(join(root, "copy"))).toBe(false);
});
