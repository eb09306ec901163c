import { appendFileSync, closeSync, openSync, renameSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collector, isAlive, type Scratch, scratch, until } from "./testing/scratch.ts";
import { openVolume, VolumeError, volumePid } from "./volume.ts";

const BLOCKS = process.env.LONG ? 200 : 20;

let volume: Scratch;
beforeEach(() => {
  volume = scratch();
});
afterEach(() => volume.end());

describe("tail", () => {
  it("follows a file that grows in many small writes, UTF-8 cut anywhere", async () => {
    const text = Array.from({ length: 400 }, (_, i) => `${i} é語🦊\n`).join("");
    const bytes = Buffer.from(text);
    const path = volume.path("a");
    writeFileSync(path, "");
    const got = collector();
    const tail = volume.open().tail(path, got);
    for (let i = 0; i < bytes.length; i += 7) {
      appendFileSync(path, bytes.subarray(i, i + 7));
      if (i % 70 === 0) await sleep(1);
    }
    await until(() => tail.delivered === bytes.length);
    expect(got.text()).toBe(text);
  });

  it("waits for a file that is not there yet", async () => {
    const got = collector();
    const tail = volume.open().tail(volume.path("later"), got);
    expect(await tail.refresh()).toEqual({ delivered: 0 });
    writeFileSync(volume.path("later"), "here\n");
    await until(() => got.text() === "here\n");
  });

  it("goes on by path when the file is replaced, and takes a smaller size for nothing", async () => {
    const path = volume.path("a");
    writeFileSync(path, "one\n");
    const got = collector();
    const tail = volume.open().tail(path, got);
    await until(() => tail.delivered === 4);
    writeFileSync(path, "o");
    await sleep(100);
    writeFileSync(volume.path("b"), "one\ntwo\n");
    renameSync(volume.path("b"), path);
    await until(() => tail.delivered === 8);
    expect(got.text()).toBe("one\ntwo\n");
  });

  it("gives no more than 256 KiB to a consumer that has not taken it", async () => {
    const path = volume.path("a");
    writeFileSync(path, Buffer.alloc(3_000_000, "x"));
    let letGo = (): void => {};
    let calls = 0;
    let size = 0;
    const tail = volume.open().tail(path, {
      onBytes: async (bytes) => {
        calls++;
        size = Math.max(size, bytes.length);
        if (calls === 1) await new Promise<void>((resolve) => (letGo = resolve));
      },
    });
    await until(() => calls === 1);
    await sleep(150);
    expect([calls, tail.delivered]).toEqual([1, 0]);
    letGo();
    expect(await tail.refresh()).toEqual({ delivered: 3_000_000 });
    expect(size).toBeLessThanOrEqual(64 * 1024);
  });

  it("reads a lot without a loss", async () => {
    const path = volume.path("big");
    const fd = openSync(path, "w");
    const block = Buffer.alloc(1_000_000, "0123456789abcde\n");
    let last = 0;
    let wrong = 0;
    const tail = volume.open().tail(path, {
      onBytes: (bytes) => {
        if (bytes[0] !== block[last % 16] || bytes.at(-1) !== block[(last + bytes.length - 1) % 16]) wrong++;
        last += bytes.length;
      },
    });
    for (let i = 0; i < BLOCKS; i++) writeSync(fd, block);
    closeSync(fd);
    await tail.refresh();
    expect([last, wrong]).toEqual([BLOCKS * block.length, 0]);
  });

  it("holds a hole of NULs back until it is filled", async () => {
    const path = volume.path("a");
    const fd = openSync(path, "w");
    writeSync(fd, "one\n", 0);
    writeSync(fd, "three\n", 8);
    const got = collector();
    const tail = volume.open().tail(path, got);
    await until(() => tail.delivered === 4);
    expect(await tail.refresh()).toEqual({ delivered: 4 });
    writeSync(fd, "two\n", 4);
    closeSync(fd);
    await until(() => tail.delivered === 14);
    expect(got.text()).toBe("one\ntwo\nthree\n");
  });

  it("believes NULs when the file is known to be complete", async () => {
    writeFileSync(volume.path("a"), "a\0b\n");
    const got = collector();
    const tail = volume.open().tail(volume.path("a"), got);
    tail.expect(4);
    await until(() => tail.delivered === 4);
    expect(got.text()).toBe("a\0b\n");
  });

  it("never follows a link, reports the trouble once, and goes on when it is over", async () => {
    writeFileSync(volume.path("secret"), "secret");
    symlinkSync(volume.path("secret"), volume.path("a"));
    const said: string[] = [];
    const got = collector();
    const tail = volume.open().tail(volume.path("a"), { ...got, onStall: (error) => said.push(error), onBack: () => said.push("back") });
    await until(() => said.length === 1);
    await expect(tail.refresh()).rejects.toMatchObject({ code: "volume_denied", path: volume.path("a") });
    writeFileSync(volume.path("b"), "fine");
    renameSync(volume.path("b"), volume.path("a"));
    await until(() => said.length === 2);
    expect([said[0]?.slice(0, 5), said[1], got.text()]).toEqual(["ELOOP", "back", "fine"]);
  });

  it("ends alone when its consumer throws", async () => {
    writeFileSync(volume.path("a"), "a");
    const shared = volume.open();
    const got = collector();
    const broken = shared.tail(volume.path("a"), { onBytes: () => Promise.reject(new Error("mine")) });
    const well = shared.tail(volume.path("a"), got);
    await well.refresh();
    await expect(broken.refresh()).rejects.toThrow("mine");
    expect([broken.delivered, got.text()]).toEqual([0, "a"]);
  });

  it("gives nothing after close", async () => {
    writeFileSync(volume.path("a"), "a");
    const got = collector();
    const tail = volume.open().tail(volume.path("a"), got);
    await tail.refresh();
    const pending = tail.refresh();
    tail.close();
    tail.close();
    appendFileSync(volume.path("a"), "b");
    await expect(pending).rejects.toBeInstanceOf(VolumeError);
    await sleep(100);
    expect(got.text()).toBe("a");
  });
});

describe("owners", () => {
  it("touch no file from the server's own process", async () => {
    const entry = fileURLToPath(new URL("./volume.ts", import.meta.url));
    const { metafile } = await build({ entryPoints: [entry], bundle: true, platform: "node", write: false, metafile: true });
    const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.map((each) => each.path));
    expect(imports.filter((path) => path.startsWith("node:")).sort()).toEqual(["node:child_process", "node:path/posix"]);
  });

  it("share one reader, started by the first use and ended after the last release", async () => {
    const first = volume.open({ lingerMs: 100 });
    const second = openVolume(`${volume.root}/./`);
    expect(volumePid(volume.root)).toBeNull();
    const tail = first.tail(volume.path("a"), { onBytes: () => {} });
    const pid = volume.pid();
    await second.remove([volume.path("a")]);
    expect(volume.pid()).toBe(pid);
    first.release();
    first.release();
    await expect(tail.refresh()).rejects.toBeInstanceOf(VolumeError);
    await sleep(200);
    expect(isAlive(pid)).toBe(true);
    second.release();
    await until(() => !isAlive(pid));
    await expect(second.remove([])).rejects.toThrow("after release");
    expect(volumePid(volume.root)).toBeNull();
  });

  it("keep the reader when the next one comes in time", async () => {
    const first = volume.open({ lingerMs: 100 });
    await first.remove([]);
    const pid = volume.pid();
    first.release();
    const second = volume.open();
    await sleep(200);
    await second.remove([]);
    expect(volume.pid()).toBe(pid);
  });
});
