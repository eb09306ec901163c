import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Scratch, scratch } from "../testing/scratch.ts";

let volume: Scratch;
beforeEach(() => {
  volume = scratch();
});
afterEach(() => volume.end());

test("what is at a path is found without following a link, and a link on the way is named", async () => {
  mkdirSync(volume.path("a/b"), { recursive: true });
  writeFileSync(volume.path("a/file"), "");
  symlinkSync(volume.path("a"), volume.path("link"));
  const paths = ["a/b", "a/file", "a/none", "none/none", "a/file/x", "link", "link/b"].map(volume.path);
  const seen = await volume.open().run("lookAt", { paths }, 60_000);
  expect(seen.map(({ kind, link }) => [kind, link])).toEqual([
    ["folder", null],
    ["file", null],
    ["missing", null],
    ["missing", null],
    ["missing", null],
    ["link", volume.path("link")],
    ["link", volume.path("link")],
  ]);
});
