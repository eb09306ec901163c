import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readEnd } from "./read-end.ts";
import { collector, type Scratch, scratch, until } from "./testing/scratch.ts";

// What a pod can leave where the server reads: nothing of it may hang, fill or mislead the server, and the volume goes on answering.

let all: Scratch;
/** A folder of its own for each test, on one volume. */
let volume: Scratch;
let tests = 0;
const cleanups: (() => void)[] = [];
beforeAll(() => {
  all = scratch();
  all.open();
});
beforeEach(() => {
  const root = all.path(`test-${tests++}`);
  mkdirSync(root);
  volume = { ...all, root, path: (name) => join(root, name) };
});
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});
afterAll(() => all.end());

const limits = { files: 10, bytes: 1024 * 1024, fileBytes: 1000, depth: 3, without: [] };

const HOSTILE: [string, (path: string) => void | Promise<void>][] = [
  ["a pipe", (path) => void execFileSync("mkfifo", [path])],
  ["a link to an endless device", (path) => symlinkSync("/dev/zero", path)],
  ["a link to a file of the server", (path) => symlinkSync("/etc/hostname", path)],
  ["a link to itself", (path) => symlinkSync(path, path)],
  ["a folder", (path) => mkdirSync(path)],
  ["a socket", listen],
  ["a sparse file of 1 TiB", sparse],
  ["a file that grows without end", grow],
];

function sparse(path: string): void {
  writeFileSync(path, "");
  truncateSync(path, 2 ** 40);
}

async function listen(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  cleanups.push(() => server.close());
}

/** As fast as a process can write, up to a size that no reader here may take. */
async function grow(path: string): Promise<void> {
  const writer = spawn("sh", ["-c", 'head -c 200000000 /dev/zero | tr "\\0" x >> "$1"', "sh", path], { stdio: "ignore" });
  cleanups.push(() => writer.kill("SIGKILL"));
  await until(() => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 10_000);
}

/** The volume's process is alive and does its work. */
const answers = async (): Promise<void> => {
  writeFileSync(volume.path("plain"), "plain");
  const of = { path: volume.path("plain"), links: "none", maxBytes: 100 } as const;
  expect((await volume.open().run("readFile", of, 60_000)).toString()).toBe("plain");
};

describe.skipIf(process.platform !== "linux")("something else in the place of a file", () => {
  test.each(HOSTILE)("read: %s", async (_, make) => {
    await make(volume.path("x"));
    const of = { path: volume.path("x"), links: "none", maxBytes: 1000 } as const;
    await expect(volume.open().run("readFile", of, 60_000)).rejects.toThrow();
    await answers();
  });

  test.each(HOSTILE)("its end: %s", async (_, make) => {
    await make(volume.path("x"));
    const of = { path: volume.path("x"), links: "none", bytes: 1000 } as const;
    const last = await volume
      .open()
      .run("readLast", of, 60_000)
      .catch(() => Buffer.alloc(0));
    expect(last.toString().replace(/^[\0x]{1000}$/, "")).toBe("");
    await answers();
  });

  test.each(HOSTILE)("as part of a tree: %s", async (_, make) => {
    mkdirSync(volume.path("tree"));
    await make(volume.path("tree/x"));
    const of = { path: volume.path("tree"), links: "none", limits } as const;
    const files = await volume
      .open()
      .run("readTree", of, 60_000)
      .catch(() => []);
    expect(files).toEqual([]);
    await answers();
  });

  test.each(HOSTILE)("as a run's records: %s", async (_, make) => {
    await make(volume.path("out.meta"));
    expect(await readEnd(volume.path("out"), { run: "r", nonce: null, secret: null })).toBeNull();
    await answers();
  });

  test.each(HOSTILE.filter(([name]) => !name.includes("grows")))("as a run's output: %s", async (_, make) => {
    await make(volume.path("x"));
    const shared = volume.open();
    const got = collector();
    const tail = shared.tail(volume.path("x"), { onBytes: got.onBytes });
    await answers();
    tail.close();
    expect(got.text().replaceAll("\0", "")).toBe("");
  });

  test.each(HOSTILE)("removed with the run: %s", async (_, make) => {
    mkdirSync(volume.path("run"));
    await make(volume.path("run/x"));
    await volume.open().remove([volume.path("run")]);
    await expect(() => readdirSync(volume.path("run"))).toThrow();
    await answers();
  });
});

test.skipIf(!process.env.LONG)("a folder with 100,000 entries is listed up to a limit, and removed", async () => {
  const folder = volume.path("many");
  mkdirSync(folder);
  const script = `const fs = require("node:fs"); for (let i = 0; i < 100_001; i++) fs.symlinkSync("x", process.argv[1] + "/" + i);`;
  execFileSync(process.execPath, ["-e", script, folder]);
  const shared = volume.open();
  await expect(shared.run("listFolder", { path: folder, links: "none" }, 60_000)).rejects.toThrow("more than 100000 entries");
  await shared.remove([folder]);
  expect(readdirSync(volume.root)).toEqual([]);
});

test("names that steer a terminal are listed as they are: whoever shows them cleans them", async () => {
  const name = `\u001b]0;x\u0007\n${"y".repeat(240)}`;
  writeFileSync(volume.path(name), "");
  expect(await volume.open().run("listFolder", { path: volume.root, links: "none" }, 60_000)).toMatchObject([{ name }]);
  await volume.open().remove([volume.path(name)]);
  expect(readdirSync(volume.root)).toEqual([]);
});

test("output behind a folder that is a link is not read", async () => {
  mkdirSync(volume.path("server"));
  writeFileSync(volume.path("server/output"), "the server's");
  symlinkSync(volume.path("server"), volume.path("run"));
  const problems: unknown[] = [];
  const got = collector();
  volume.open().tail(volume.path("run/output"), { onBytes: got.onBytes, onStall: (error) => void problems.push(error) });
  await until(() => problems.length > 0);
  expect([got.text(), String(problems[0])]).toEqual(["", expect.stringContaining("is a link")]);
});
