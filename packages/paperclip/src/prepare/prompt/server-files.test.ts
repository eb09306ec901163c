import { execFileSync } from "node:child_process";
import { appendFile, chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ANYWHERE } from "../../testing/test-policy.ts";
import { ServerFiles } from "./server-files.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bounded-files-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("text as it is, without a byte order mark", async () => {
  const path = join(folder, "text.md");
  await writeFile(path, "\uFEFFgrüße\r\n$(x) \\c\n");
  expect(await new ServerFiles(["/elsewhere"], ANYWHERE).read(path)).toBe("grüße\r\n$(x) \\c\n");
});

test("as large as a mebibyte, not a byte more", async () => {
  const path = join(folder, "large.md");
  await writeFile(path, "x".repeat(1024 * 1024));
  expect(await new ServerFiles(["/elsewhere"], ANYWHERE).read(path)).toHaveLength(1024 * 1024);
  await appendFile(path, "x");
  await expect(new ServerFiles(["/elsewhere"], ANYWHERE).read(path)).rejects.toThrow("larger than 1048576 bytes");
});

test("what is not a readable file is named in a few words", async () => {
  const files = new ServerFiles(["/elsewhere"], ANYWHERE);
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

test("a volume that does not answer in time is named, and uses up the time of all that follows", async () => {
  const shared = await mkdtemp(join(folder, "slow-"));
  await writeFile(join(shared, "a.md"), "x");
  // No process can be started and asked in a millisecond.
  const files = new ServerFiles([shared], ANYWHERE, 1);
  await expect(files.read(join(shared, "a.md"))).rejects.toThrow(`the volume at ${shared} does not answer`);
  await expect(files.read(join(folder, "text.md"))).rejects.toThrow("no answer within 0.001 s");
});
