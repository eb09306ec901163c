import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Scratch, scratch } from "../testing/scratch.ts";
import { keepEnd } from "./keep-end.ts";

let volume: Scratch;
beforeEach(() => {
  volume = scratch();
  mkdirSync(volume.path("run.pod"));
});
afterEach(() => volume.end());

const output = () => volume.path("run.pod/output.ndjson");
const kept = () => volume.path("kept/run.ndjson");
const keep = (bytes: number) => keepEnd(volume.root, { from: output(), to: kept(), bytes, unfinished: ".part-" });

async function keepOf(text: string | Buffer, bytes: number): Promise<string | null> {
  writeFileSync(output(), text);
  return (await keep(bytes)) ? readFileSync(kept(), "utf8") : null;
}

test("the last whole lines that fit, for the server's user alone", async () => {
  expect(await keepOf("one\ntwo\nthree\n", 100)).toBe("one\ntwo\nthree\n");
  expect(await keepOf("one\ntwo\nthree\n", 10)).toBe("two\nthree\n");
  expect(await keepOf("one\ntwo\nthree\n", 9)).toBe("three\n");
  expect(await keepOf("one\ntwo\nhalf", 8)).toBe("two\nhalf");
  expect(statSync(kept()).mode & 0o777).toBe(0o600);
  expect(statSync(volume.path("kept")).mode & 0o777).toBe(0o700);
  expect(readdirSync(volume.path("kept"))).toEqual(["run.ndjson"]);
});

test("nothing is kept of an empty file, or where the last line alone is longer", async () => {
  expect(await keepOf("", 10)).toBeNull();
  expect(await keepOf(`one\n${"x".repeat(300_000)}\n`, 200_000)).toBeNull();
  expect(existsSync(kept())).toBe(false);
});

test("for any lines and any limit: a suffix of whole lines, no longer than the limit, and the longest such", async () => {
  const line = fc.oneof(fc.string({ maxLength: 12 }), fc.constant("x".repeat(70_000)));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.nat(150_000), async (lines, bytes) => {
      const whole = Buffer.from(lines.map((each) => `${each.replaceAll("\n", "")}\n`).join(""));
      const pieces = whole.toString().split(/(?<=\n)/);
      const suffixes = pieces.map((_, at) => pieces.slice(at).join(""));
      const longest = suffixes.find((suffix) => suffix !== "" && Buffer.byteLength(suffix) <= bytes) ?? null;
      expect(await keepOf(whole, bytes)).toBe(longest);
    }),
    { numRuns: 60 },
  );
});

test("a link, a pipe or a folder in the output's place is not kept, and a link in the way not followed", async () => {
  writeFileSync(volume.path("secret"), "secret\n");
  symlinkSync(volume.path("secret"), output());
  await expect(keep(100)).rejects.toThrow("ELOOP");
  execFileSync("mkfifo", [volume.path("run.pod/pipe")]);
  const of = (from: string, to = kept()) => keepEnd(volume.root, { from, to, bytes: 100, unfinished: ".part-" });
  await expect(of(volume.path("run.pod/pipe"))).rejects.toThrow("is not a file");
  await expect(of(volume.path("run.pod"))).rejects.toThrow("is not a file");
  await expect(of(volume.path("missing.pod/output.ndjson"))).rejects.toThrow("ENOENT");
  symlinkSync(volume.path("run.pod"), volume.path("linked"));
  await expect(of(volume.path("linked/output.ndjson"))).rejects.toThrow("is a link");
  writeFileSync(volume.path("run.pod/plain"), "x\n");
  await expect(of(volume.path("run.pod/plain"), volume.path("linked/kept.ndjson"))).rejects.toThrow("is a link");
  expect(existsSync(volume.path("kept"))).toBe(false);
  expect(readdirSync(volume.path("run.pod")).sort()).toEqual(["output.ndjson", "pipe", "plain"]);
});

test("a link under the name it gets is replaced, not written through", async () => {
  writeFileSync(output(), "new\n");
  mkdirSync(volume.path("kept"));
  writeFileSync(volume.path("other"), "old\n");
  symlinkSync(volume.path("other"), kept());
  expect(await keep(100)).toBe(true);
  linkSync(kept(), volume.path("again"));
  expect([readFileSync(volume.path("other"), "utf8"), readFileSync(volume.path("again"), "utf8")]).toEqual(["old\n", "new\n"]);
});
