import {
  fchmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sortedEntries } from "./entries.ts";
import { inFolder, LinkError, removeTree } from "./in-folder.ts";

const isLinux = process.platform === "linux";
let top: string;
let root: string;
let outside: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "in-folder-"));
  root = join(top, "volume");
  outside = join(top, "server");
  mkdirSync(join(root, "a/b"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, "f"), "the server's");
  writeFileSync(join(root, "a/b/f"), "the pod's");
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

/** How many descriptors of this process lead to the folders of this test. */
function openDescriptors(): number {
  if (!isLinux) return 0;
  const target = (fd: string): string => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  };
  return readdirSync("/proc/self/fd").filter((fd) => target(fd).startsWith(top)).length;
}

const read = (folder: string) => inFolder(root, folder, (at) => readFileSync(at("f"), "utf8"));

test("a folder is reached, a link on the way to it or in its place is refused by name", async () => {
  expect(await read(join(root, "a/b"))).toBe("the pod's");
  symlinkSync(outside, join(root, "a/link"));
  symlinkSync(join(root, "a"), join(root, "within"));
  await expect(read(join(root, "a/link"))).rejects.toThrow(new LinkError(join(root, "a/link")));
  await expect(read(join(root, "within/b"))).rejects.toMatchObject({ code: "ELOOP", path: join(root, "within") });
  for (const way of [outside, `${root}/../server`, `${root}2`]) await expect(read(way)).rejects.toThrow(/is not below/);
  expect(openDescriptors()).toBe(0);
});

test("the root itself may be a link; errors name the path, not the descriptor", async () => {
  renameSync(root, join(top, "elsewhere"));
  symlinkSync(join(top, "elsewhere"), root);
  expect(await read(join(root, "a/b"))).toBe("the pod's");
  await expect(read(join(root, "a"))).rejects.toMatchObject({ code: "ENOENT", path: join(root, "a/f"), message: /volume\/a\/f/ });
  await expect(read(join(root, "a/none/b"))).rejects.toMatchObject({ code: "ENOENT", path: join(root, "a/none") });
  expect(openDescriptors()).toBe(0);
});

test("missing folders are created and set up, those that exist are not", async () => {
  let made = 0;
  const setUp = (fd: number): void => {
    made++;
    fchmodSync(fd, 0o711);
  };
  await inFolder(root, join(root, "a/new/er"), (at) => writeFileSync(at("g"), "x"), setUp);
  await inFolder(root, join(root, "a/new/est"), () => {}, setUp);
  expect([made, statSync(join(root, "a/new/er")).mode & 0o777, readFileSync(join(root, "a/new/er/g"), "utf8")]).toEqual([3, 0o711, "x"]);
  symlinkSync(join(outside, "none"), join(root, "dangling"));
  await expect(inFolder(root, join(root, "dangling/x"), () => {}, setUp)).rejects.toThrow(LinkError);
  expect(readdirSync(outside)).toEqual(["f"]);
});

test.skipIf(!isLinux)("a link that is put there meanwhile leads nowhere", async () => {
  await inFolder(root, join(root, "a/b"), (at) => {
    renameSync(join(root, "a/b"), join(root, "a/moved"));
    symlinkSync(outside, join(root, "a/b"));
    expect(readFileSync(at("f"), "utf8")).toBe("the pod's");
  });
});

test("a tree is removed with the links in it, not with what they lead to", async () => {
  symlinkSync(outside, join(root, "a/b/link"));
  symlinkSync(outside, join(root, "link"));
  await removeTree(root, "a");
  await removeTree(root, "link");
  expect([readdirSync(root), readdirSync(outside), openDescriptors()]).toEqual([[], ["f"], 0]);
  mkdirSync(join(root, "1/2/3"), { recursive: true });
  await expect(removeTree(root, "1", 1)).rejects.toThrow(/1\/2 is too deep/);
});

test("a folder of more entries than are read at once is removed whole", async () => {
  const folder = join(root, "many");
  mkdirSync(folder);
  for (let count = 0; count < 2500; count++) symlinkSync("x", join(folder, String(count)));
  expect(() => sortedEntries(folder, 2499)).toThrow("more than 2499 entries");
  expect(sortedEntries(folder, 2500)).toHaveLength(2500);
  await removeTree(root, "many");
  expect(readdirSync(root)).not.toContain("many");
});
