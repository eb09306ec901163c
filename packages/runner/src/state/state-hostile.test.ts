import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { cleanUp } from "../testing/runner-fixture.ts";
import { BLOCK, tarHeader } from "./tar-header.ts";
import { type Forged, forge, KEY, NAME, put, sha256 } from "./testing/forge-archive.ts";
import { cleanUpFolders, makeFolder, restoreAnew, statePod, stateSpec } from "./testing/state-fixture.ts";

afterAll(() => {
  cleanUp();
  cleanUpFolders();
});

const good: Forged = { path: "data/files/a", content: "a" };

/** A header of a kind that this format does not have, with a right checksum. */
function strangeHeader(type: string, link: string, size = "00000000000"): Buffer {
  const block = tarHeader({ path: "home/data/files/x", kind: "file", size: 0, mode: 0o777, mtimeMs: 0 });
  block.write(type, 156);
  block.write(link, 157);
  block.write(size, 124);
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** Each is signed with the right key, as the agent itself could do it, so that only the check in question refuses it. */
test.each<[string, Forged[], Record<string, unknown>?]>([
  ["without a checksum", [good, { path: "data/files/b", content: "b", listed: { sha256: undefined } }]],
  ["with a checksum of another kind", [{ ...good, listed: { sha256: { toString: 1 } } }]],
  ["with a wrong checksum", [good, { path: "data/files/b", content: "b", listed: { sha256: sha256("c") } }]],
  ["outside its part", [good, { path: "other/b", content: "b" }]],
  ["above the home", [good, { path: "data/files/../../../b", content: "b" }]],
  ["with an absolute path", [good, { path: "/etc/b", content: "b" }]],
  ["beside a database", [good, { path: "data/some.db-other", content: "b" }]],
  ["listed only, to change what is there", [good, { path: "data/files/b", content: "", isListed: true, header: Buffer.alloc(0) }]],
  ["that is not listed", [good, { path: "data/files/b", content: "b", isListed: false }]],
  ["twice", [good, good]],
  ["twice in the archive, once in the list", [good, { ...good, isListed: false }]],
  ["that is a file and a folder", [good, { path: "data/files/a/b", content: "b" }]],
  ["that is a hard link", [good, { path: "data/files/x", header: strangeHeader("1", "/etc/passwd") }]],
  ["that is a soft link", [good, { path: "data/files/x", header: strangeHeader("2", "/etc") }]],
  ["that is a device", [good, { path: "data/files/x", header: strangeHeader("3", "") }]],
  ["that is a pipe", [good, { path: "data/files/x", header: strangeHeader("6", "") }]],
  ["with a negative size", [good, { path: "data/files/x", header: strangeHeader("0", "", "-0000000001") }]],
  ["with a negative size in the list", [{ ...good, listed: { size: -1 } }]],
  ["with a huge size", [{ ...good, listed: { size: 2 ** 50 } }]],
  ["with a size that is no number", [{ ...good, listed: { size: { valueOf: 1 } } }]],
  ["of another size than listed", [{ ...good, listed: { size: 2 } }]],
  ["with special permissions", [{ ...good, listed: { mode: 0o4755 } }]],
  ["with permissions that are no number", [{ ...good, listed: { mode: "777" } }]],
  ["with a time that is none", [{ ...good, listed: { mtimeMs: 1e300 } }]],
  ["with a path that is no text", [{ ...good, listed: { path: 5 } }]],
  ["with a NUL in its path", [{ ...good, path: "data/files/\0" }]],
  ["with a path without end", [{ ...good, path: `data/files/${"a/".repeat(3000)}b` }]],
  ["with a name that no disk takes", [{ ...good, path: `data/files/${"a".repeat(300)}` }]],
  ["of a kind of its own", [{ ...good, listed: { kind: "link" } }]],
  ["whose list is no list", [good], { entries: { length: 1 } }],
  ["whose list holds nothing", [good], { entries: [null] }],
  ["whose time is an escape code", [good], { at: "\u001b[2J" }],
  ["whose sum is wrong", [good], { bytes: -1 }],
  ["whose version is no text", [good], { version: { toString: 1 } }],
])("an archive with a member %s is not restored, and nothing is left of it", (_, members, manifest = {}) => {
  const saved = makeFolder();
  forge(saved, members, manifest, KEY);
  const found = restoreAnew(saved, { key: KEY });
  expect(found).toMatchObject({ point: null, damaged: [NAME] });
  expect(existsSync(found.home) ? readdirSync(found.home) : []).toEqual([]);
});

test("more bytes than a state may have are not unpacked", () => {
  const saved = makeFolder();
  forge(saved, [{ path: "data/files/a", content: "x".repeat(3000) }], {}, KEY);
  expect(restoreAnew(saved, { key: KEY, maxBytes: 1000 }).notes[0]).toContain("it has 3000 bytes");
});

test("permissions and times are given to what was restored, never through a link", () => {
  const saved = makeFolder();
  const outside = join(makeFolder(), "outside");
  mkdirSync(outside, 0o755);
  const before = statSync(outside);
  forge(saved, [{ path: "data/files", kind: "folder", listed: { mode: 0o700 } }], {}, KEY);
  const { home } = stateSpec(saved);
  mkdirSync(join(home, "data"));
  symlinkSync(outside, join(home, "data/files"));
  expect(() => restoreAnew(saved, { key: KEY, home })).toThrow(/EEXIST/);
  expect([statSync(outside).mode, statSync(outside).mtimeMs]).toEqual([before.mode, before.mtimeMs]);
});

describe("something else in the place of a file", () => {
  const strange: [string, (file: string) => void][] = [
    ["a pipe", (file) => execFileSync("mkfifo", [file])],
    ["a link to an endless device", (file) => symlinkSync("/dev/zero", file)],
    ["a link to a file elsewhere", (file) => symlinkSync("/etc/hostname", file)],
    ["a folder", (file) => mkdirSync(file)],
    ["a huge file of zeros", (file) => sparse(file, "")],
    ["a huge file that looks like an archive", (file) => sparse(file, hugeMember())],
    ["a huge file of members", (file) => sparse(file, hugeList())],
  ];
  test.each(strange)("the archive: %s", (_, make) => {
    const saved = makeFolder();
    put(saved, Buffer.alloc(0));
    rmSync(join(saved, NAME));
    make(join(saved, NAME));
    expect(restoreAnew(saved, { key: KEY, acceptUnsigned: true })).toMatchObject({ point: null, damaged: [NAME] });
  });

  test.concurrent.each(strange)("the pointer: %s", async (_, make) => {
    const saved = makeFolder();
    const ended = await statePod(stateSpec(saved), "echo one > data/files/turns").start().ended;
    rmSync(join(saved, "current"));
    make(join(saved, "current"));
    const found = restoreAnew(saved);
    expect(found.point).toEqual(ended.end?.state?.last);
    expect(readFileSync(join(found.home, "data/files/turns"), "utf8")).toBe("one\n");
  });

  test("a link to a whole archive is no archive either: it may lead to what others write", () => {
    const [saved, elsewhere] = [makeFolder(), makeFolder()];
    forge(elsewhere, [good], {}, KEY);
    symlinkSync(join(elsewhere, NAME), join(saved, NAME));
    expect(restoreAnew(saved, { key: KEY })).toMatchObject({ point: null, damaged: [NAME] });
  });

  test("a folder full of generations that nobody saved: some are tried, then it is a fresh start", () => {
    const saved = makeFolder();
    for (let count = 0; count < 2000; count++) writeFileSync(join(saved, `20260101T000000000Z-00000001-${count.toString(16)}.tar`), "x");
    expect(restoreAnew(saved).notes.length).toBeLessThan(30);
  });
});

function sparse(file: string, begin: Buffer | string): void {
  writeFileSync(file, begin);
  truncateSync(file, 2 ** 40);
}

const hugeMember = (): Buffer => tarHeader({ path: "home/data/files/x", kind: "file", size: 2 ** 33 - 1, mode: 0o600, mtimeMs: 0 });
const hugeList = (): Buffer =>
  Buffer.concat([tarHeader({ path: "manifest", kind: "file", size: 2 ** 33 - 1, mode: 0o600, mtimeMs: 0 }), Buffer.alloc(BLOCK)]);
