import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asUser, isRoot } from "../testing/as-user.ts";
import { openBelow } from "./open-below.ts";
import { listFolder, readFile, readTree } from "./read-files.ts";

// A pod that puts a link in a folder's place, and the folder back, as fast as it can, between any check and any open of the server.

const SWAPS = process.env.LONG ? "50000" : "3000";

let top: string;
let root: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "race-"));
  root = join(top, "volume");
  for (const folder of ["volume/run", "server"]) mkdirSync(join(top, folder), { recursive: true, mode: 0o755 });
  writeFileSync(join(root, "run/file"), "the pod's");
  writeFileSync(join(top, "server/file"), "the server's");
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const ATTACK = `
  const { renameSync, symlinkSync } = require("node:fs");
  const [root, server, folder, swaps] = process.argv.slice(1);
  symlinkSync(server, root + "/link");
  console.log("begun");
  for (let count = 0; count < Number(swaps); count++) {
    renameSync(root + "/" + folder, root + "/aside");
    renameSync(root + "/link", root + "/" + folder);
    renameSync(root + "/" + folder, root + "/link");
    renameSync(root + "/aside", root + "/" + folder);
  }`;

/** How often each answer came while the pod swapped. */
async function race(read: () => Promise<string>): Promise<Record<string, number>> {
  const seen: Record<string, number> = {};
  const attack = spawn(process.execPath, ["-e", ATTACK, root, join(top, "server"), "run", SWAPS], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(attack, "exit");
  await once(attack.stdout, "data");
  while (attack.exitCode === null && attack.signalCode === null) {
    for (let count = 0; count < 200; count++) {
      const answer = await read().catch((error: NodeJS.ErrnoException) => error.code ?? "refused");
      seen[answer] = (seen[answer] ?? 0) + 1;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await ended;
  return seen;
}

const file = () => join(root, "run/file");
const limits = { files: 10, bytes: 1000, fileBytes: 1000, depth: 3, without: [] };

const READERS: [string, () => Promise<string>][] = [
  ["a file", async () => (await readFile(root, { path: file(), links: "none", maxBytes: 100 })).toString()],
  ["a tree", async () => (await readTree(root, { path: join(root, "run"), links: "none", limits })).map(({ bytes }) => bytes).join()],
  ["a folder", async () => (await listFolder(root, { path: join(root, "run"), links: "none" })).map(({ name }) => name).join()],
  ["a followed file", async () => follow()],
];

const open = () => openBelow(root);
function follow(): string {
  const fd = open()(file());
  try {
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

test.each(READERS)("%s is the pod's own, or refused; the race was lost and won many times", async (_, read) => {
  writeFileSync(join(top, "server/only-here"), "the server's");
  const seen = await race(read);
  expect(Object.keys(seen).join(" ")).not.toMatch(/the server's|only-here/);
  expect(Object.keys(seen).length).toBeGreaterThan(1);
});

test.skipIf(!isRoot).each(READERS)("%s, read by a server that is not root", async (_, read) => {
  writeFileSync(join(top, "server/only-here"), "the server's");
  const seen = await race(() => asUser(1000, read));
  expect(Object.keys(seen).join(" ")).not.toMatch(/the server's|only-here/);
});
