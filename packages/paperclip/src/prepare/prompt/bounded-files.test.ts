import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BoundedFiles } from "./bounded-files.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bounded-files-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("text as it is, without a byte order mark", async () => {
  const path = join(folder, "text.md");
  await writeFile(path, "\uFEFFgrüße\r\n$(x) \\c\n");
  expect(await new BoundedFiles({ shared: null }).read(path)).toBe("grüße\r\n$(x) \\c\n");
});

test("as large as allowed, not a byte more", async () => {
  const path = join(folder, "large.md");
  await writeFile(path, "x".repeat(100_000));
  expect(await new BoundedFiles({ shared: null, maxBytes: 100_000 }).read(path)).toHaveLength(100_000);
  await expect(new BoundedFiles({ shared: null, maxBytes: 99_999 }).read(path)).rejects.toThrow("larger than 99999 bytes");
});

test("what is not a readable file is told in a few words", async () => {
  const files = new BoundedFiles({ shared: null });
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  await writeFile(join(folder, "locked.md"), "x");
  await chmod(join(folder, "locked.md"), 0);
  await expect(files.read(pipe)).rejects.toThrow(/^not a file$/);
  await expect(files.read(folder)).rejects.toThrow(/^not a file$/);
  await expect(files.read(join(folder, "none.md"))).rejects.toThrow(/^no such file$/);
  await expect(files.read(join(folder, "text.md", "SKILL.md"))).rejects.toThrow(/^no such file$/);
  if (process.getuid?.() !== 0) await expect(files.read(join(folder, "locked.md"))).rejects.toThrow(/^not readable for the server$/);
});

test("one file that hangs uses up the time of all", async () => {
  const hanging = join(folder, "hanging");
  execFileSync("mkfifo", [hanging]);
  const path = join(folder, "after.md");
  await writeFile(path, "x");
  const files = new BoundedFiles({ shared: null, timeoutMs: 100 });
  const stuck = readFile(hanging);
  try {
    await expect(files.within(() => stuck)).rejects.toThrow("no answer within 0.1 s");
    await expect(files.read(path)).rejects.toThrow("no answer within 0.1 s");
  } finally {
    closeSync(openSync(hanging, constants.O_WRONLY | constants.O_NONBLOCK));
    await stuck;
  }
});
