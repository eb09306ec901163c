import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Scratch, scratch } from "../testing/scratch.ts";
import { keepSecret } from "./keep-secret.ts";

let volume: Scratch;
beforeEach(() => {
  volume = scratch();
});
afterEach(() => volume.end());

const bytes = (fill: number): Buffer => Buffer.alloc(32, fill);
const keep = (given: Buffer | null) => keepSecret(volume.root, { path: volume.path("own/secret"), bytes: given });

test("it is made once, for the server's user alone, and found again", async () => {
  await expect(keep(null)).rejects.toThrow("ENOENT");
  expect(await keep(bytes(1))).toEqual(bytes(1));
  expect(await keep(bytes(2))).toEqual(bytes(1));
  expect(await keep(null)).toEqual(bytes(1));
  expect([statSync(volume.path("own")).mode & 0o777, statSync(volume.path("own/secret")).mode & 0o777]).toEqual([0o700, 0o600]);
});

test("of many servers at once, one makes it and all have the same", async () => {
  const kept = await Promise.all(Array.from({ length: 10 }, (_, n) => keep(bytes(n))));
  expect(new Set(kept.map(String)).size).toBe(1);
});

test("what others may read, a link or a file of another length is no secret", async () => {
  mkdirSync(volume.path("own"));
  writeFileSync(volume.path("own/secret"), bytes(1));
  chmodSync(volume.path("own/secret"), 0o644);
  await expect(keep(bytes(2))).rejects.toThrow("must belong to its user, with mode 0600");
  chmodSync(volume.path("own/secret"), 0o600);
  writeFileSync(volume.path("own/secret"), "short");
  await expect(keep(bytes(2))).rejects.toThrow("has 5 bytes instead of 32: delete it");
  symlinkSync(volume.path("own"), volume.path("linked"));
  await expect(keepSecret(volume.root, { path: volume.path("linked/secret"), bytes: bytes(3) })).rejects.toThrow("is a link");
});
