import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asUser, isRoot } from "../testing/as-user.ts";
import { listFolder, locate, readFile, readLast, readTree } from "./read-files.ts";

let top: string;
let root: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "read-files-"));
  chmodSync(top, 0o755);
  root = join(top, "volume");
  mkdirSync(join(root, "a/b"), { recursive: true });
  mkdirSync(join(top, "server"));
  writeFileSync(join(root, "a/one"), "1");
  writeFileSync(join(root, "a/b/two"), "22", { mode: 0o755 });
  writeFileSync(join(top, "server/secret"), "the server's");
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const text = async (path: string, links: "none" | "all" = "none") =>
  (await readFile(root, { path: join(root, path), links, maxBytes: 1000 })).toString();
const limits = { files: 10, bytes: 1024 * 1024, fileBytes: 100, depth: 8, without: ["skipped"] };
const tree = async (path: string, changes: Partial<typeof limits> = {}) => {
  const files = await readTree(root, { path: join(root, path), links: "none", limits: { ...limits, ...changes } });
  return files.map((file) => [file.path, file.bytes.toString(), file.executable]);
};

test("a link that leads out of the volume is refused, unless the operator's links are trusted", async () => {
  symlinkSync(join(top, "server/secret"), join(root, "a/link"));
  symlinkSync(join(top, "server"), join(root, "out"));
  for (const path of ["a/link", "out/secret"]) {
    await expect(text(path)).rejects.toThrow(`it leads out of ${root}`);
    expect(await text(path, "all")).toBe("the server's");
  }
  await expect(text("../server/secret")).rejects.toThrow("it leads out of");
});

test.skipIf(!isRoot)("a link within the volume is followed, but not by a server that may read more there than a pod", async () => {
  renameSync(join(root, "a/one"), join(root, "key"));
  symlinkSync(join(root, "key"), join(root, "a/one"));
  expect(await asUser(1000, () => text("a/one"))).toBe("1");
  chmodSync(join(root, "key"), 0o600);
  await expect(asUser(1000, () => text("a/one"))).rejects.toMatchObject({ code: "EACCES" });
  await expect(text("a/one")).rejects.toThrow("a server that is root follows none");
});

test("a link within the volume that leads out of the folders it may come from is refused", async () => {
  mkdirSync(join(root, "theirs"));
  writeFileSync(join(root, "theirs/key"), "of another agent");
  symlinkSync("../theirs/key", join(root, "a/link"));
  symlinkSync("../theirs", join(root, "a/folder"));
  const of = { links: "none", maxBytes: 1000, within: [join(root, "a")] } as const;
  for (const path of ["a/link", "a/folder/key", "theirs/key"])
    await expect(readFile(root, { ...of, path: join(root, path) }), path).rejects.toThrow("a link leads out of the folders");
  expect((await readFile(root, { ...of, path: join(root, "a/one") })).toString()).toBe("1");
  // The folder itself may have been exchanged for a link.
  renameSync(join(root, "a"), join(root, "b"));
  symlinkSync("theirs", join(root, "a"));
  await expect(readFile(root, { ...of, path: join(root, "a/key") })).rejects.toThrow("a link leads out of the folders");
});

test("a folder elsewhere opens nothing on the volume", async () => {
  const within = [join(root, "a/b"), join(top, "server"), "/etc"];
  const of = { path: join(root, "a/one"), links: "none", maxBytes: 1000 } as const;
  await expect(readFile(root, { ...of, within })).rejects.toThrow("a link leads out of the folders");
  await expect(readFile(root, { ...of, within: within.slice(1) })).rejects.toThrow("a link leads out of the folders");
  // One above the volume stands for all of it.
  expect((await readFile(root, { ...of, within: [top] })).toString()).toBe("1");
});

test("the operator's links end in the folders that were given, never where pods write or in what the kernel shows", async () => {
  const own = join(top, "own");
  mkdirSync(join(own, "..v1"), { recursive: true });
  writeFileSync(join(own, "..v1/text"), "a ConfigMap's");
  symlinkSync("..v1/text", join(own, "text"));
  symlinkSync(own, join(top, "alias"));
  symlinkSync(join(top, "server/secret"), join(own, "secret"));
  symlinkSync(join(root, "a/one"), join(own, "shared"));
  symlinkSync("/proc/self/environ", join(own, "environ"));
  symlinkSync(root, join(top, "volume-alias"));
  const ask = async (path: string, within: string[], shared = [root]) =>
    (await readFile("/", { path, links: "all", maxBytes: 100_000, within, shared })).toString();
  for (const folder of [own, join(top, "alias")]) expect(await ask(join(folder, "text"), [folder])).toBe("a ConfigMap's");
  await expect(ask(join(own, "secret"), [own, join(top, "none")])).rejects.toThrow("a link leads out of the folders");
  for (const shared of [root, join(top, "volume-alias")])
    for (const path of [join(own, "shared"), `/proc/self/root${root}/a/one`, join(root, "a/one")])
      await expect(ask(path, ["/"], [shared]), path).rejects.toThrow(`a link leads to ${shared}, where pods write`);
  for (const path of [join(own, "environ"), "/proc/1/environ", "/dev/zero", "/sys/kernel/notes"])
    await expect(ask(path, ["/"]), path).rejects.toThrow("it leads to what is no file on a disk");
});

test("a path that ends elsewhere than it was found is not read", async () => {
  const of = { path: join(root, "a/one"), links: "none", maxBytes: 1000 } as const;
  const { path: at, names } = locate(root, of);
  expect(names).toEqual([of.path]);
  expect((await readFile(root, { ...of, at })).toString()).toBe("1");
  await expect(readFile(root, { ...of, path: join(root, "a/b/two"), at })).rejects.toThrow("a link was put in its place");
});

test("a tree has all its files but no links, and a file is a tree of one", async () => {
  symlinkSync(join(top, "server/secret"), join(root, "a/link"));
  mkdirSync(join(root, "a/skipped"));
  writeFileSync(join(root, "a/skipped/x"), "x");
  expect(await tree("a")).toEqual([
    ["b/two", "22", true],
    ["one", "1", false],
  ]);
  expect(await tree("a/one")).toEqual([["", "1", false]]);
  expect(await tree("a", { depth: 1 })).toEqual([["one", "1", false]]);
});

test.skipIf(!isRoot)("a file of a tree that the server may not read is named in plain words", async () => {
  chmodSync(join(root, "a/b/two"), 0o600);
  await expect(asUser(1000, () => tree("a"))).rejects.toThrow(/^b\/two: not readable for the server$/);
});

test("the last bytes of a file are read, however large it is", async () => {
  const last = async (path: string, bytes: number) => (await readLast(root, { path: join(root, path), links: "none", bytes })).toString();
  writeFileSync(join(root, "large"), "");
  truncateSync(join(root, "large"), 2 ** 40);
  appendFileSync(join(root, "large"), "end");
  expect([await last("large", 4), await last("a/b/two", 2), await last("a/b/two", 100)]).toEqual(["\0end", "22", "22"]);
  symlinkSync(join(top, "server/secret"), join(root, "a/link"));
  await expect(last("a/link", 10)).rejects.toThrow("it leads out of");
  await expect(last("a", 10)).rejects.toThrow("not a file");
});

test("a tree is bounded in files, bytes and the size of each file", async () => {
  await expect(tree("a", { files: 1 })).rejects.toThrow("it has more than 1 files or 1 MiB");
  await expect(tree("a", { bytes: 2 })).rejects.toThrow("it has more than 10 files");
  await expect(tree("a", { fileBytes: 1 })).rejects.toThrow("b/two: larger than 1 bytes");
});

test("a folder is listed with what its entries are", async () => {
  symlinkSync("../server", join(root, "link"));
  expect(await listFolder(root, { path: root, links: "none" })).toEqual([
    { name: "a", kind: "folder", target: null },
    { name: "link", kind: "link", target: "../server" },
  ]);
});
