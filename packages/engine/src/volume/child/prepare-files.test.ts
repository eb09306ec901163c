import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runFiles } from "../../request.ts";
import { type Scratch, scratch } from "../testing/scratch.ts";
import { openVolume } from "../volume.ts";

const isRoot = process.geteuid?.() === 0;
let volume: Scratch;
beforeEach(() => {
  volume = scratch();
});
afterEach(() => volume.end());
const mode = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe("prepare", () => {
  it("makes the folder, the output and the meta file, not the claim", async () => {
    const files = runFiles(volume.path("x/y/r1.ndjson"));
    await volume.open().prepare(files, null);
    expect([mode(files.output), mode(files.meta), mode(volume.path("x")), existsSync(files.lock)]).toEqual(["664", "664", "775", false]);
  });

  it("changes nothing about files that are there", async () => {
    const files = runFiles(volume.path("r1"));
    writeFileSync(files.output, "kept", { mode: 0o600 });
    await volume.open().prepare(files, null);
    expect([readFileSync(files.output, "utf8"), mode(files.output)]).toEqual(["kept", "600"]);
  });

  it.skipIf(!isRoot)("hands files and new folders to the pod's user when the server is root", async () => {
    mkdirSync(volume.path("old"));
    chmodSync(volume.path("old"), 0o755);
    const files = runFiles(volume.path("old/new/r1"));
    const other = runFiles(volume.path("old/r2"));
    const shared = volume.open();
    await shared.prepare(files, { uid: 1234, gid: 2345 });
    await shared.prepare(other, { uid: 1234, gid: 2345 });
    for (const path of [files.output, files.meta, volume.path("old/new"), other.output]) {
      expect(statSync(path)).toMatchObject({ uid: 1234, gid: 2345 });
    }
    expect(statSync(volume.path("old"))).toMatchObject({ uid: 0, gid: 2345 });
    expect(mode(volume.path("old"))).toBe("775");
  });

  it("refuses a link in the place of a file", async () => {
    const files = runFiles(volume.path("r1"));
    symlinkSync("/etc/hostname", files.output);
    await expect(volume.open().prepare(files, null)).rejects.toMatchObject({ code: "volume_denied", path: files.output });
  });

  it("refuses a link in the place of a folder, whatever it leads to", async () => {
    const outside = volume.path("server");
    mkdirSync(outside, { mode: 0o700 });
    mkdirSync(volume.path("pods"));
    symlinkSync(outside, volume.path("pods/state"));
    const shared = volume.open();
    const owner = { uid: 1234, gid: 2345 };
    const refused = { code: "volume_denied", path: volume.path("pods/state") };
    await expect(shared.prepare(runFiles(volume.path("pods/r1")), owner, [volume.path("pods/state")])).rejects.toMatchObject(refused);
    await expect(shared.prepare(runFiles(volume.path("pods/state/new/r1")), owner)).rejects.toMatchObject(refused);
    expect([mode(outside), statSync(outside).gid, readdirSync(outside)]).toEqual(["700", process.getegid?.(), []]);
    writeFileSync(`${outside}/r1`, "kept");
    await expect(shared.remove([volume.path("pods/state/r1")])).rejects.toMatchObject(refused);
    expect(existsSync(`${outside}/r1`)).toBe(true);
  });

  it("does not make a root that is not mounted", async () => {
    const missing = openVolume(volume.path("not-mounted"), { lingerMs: 0 });
    await expect(missing.prepare(runFiles(volume.path("not-mounted/r1")), null)).rejects.toMatchObject({ code: "volume_missing" });
    missing.release();
    expect(existsSync(volume.path("not-mounted"))).toBe(false);
  });

  it.skipIf(process.platform !== "linux")("gives up on a file system that takes no folders", async () => {
    const proc = openVolume("/proc", { lingerMs: 0 });
    await expect(proc.prepare(runFiles("/proc/none/r1"), null)).rejects.toMatchObject({ code: "volume_missing", path: "/proc/none" });
    proc.release();
  });

  it.skipIf(isRoot)("says when it may not", async () => {
    mkdirSync(volume.path("locked"), { mode: 0o555 });
    const files = runFiles(volume.path("locked/r1"));
    await expect(volume.open().prepare(files, null)).rejects.toMatchObject({ code: "volume_denied" });
  });

  it("refuses paths outside the root before anything is done", async () => {
    const shared = volume.open();
    const outside = runFiles(`${volume.root}/../escape`);
    await expect(shared.prepare(outside, null)).rejects.toMatchObject({ code: "volume_denied" });
    await expect(shared.remove(["/etc/hostname"])).rejects.toMatchObject({ code: "volume_denied" });
    expect(() => shared.tail(`${volume.root}2/a`, { onBytes: () => {} })).toThrow(/not a file below/);
  });
});

describe("remove", () => {
  it("removes files and does not mind those that are gone", async () => {
    writeFileSync(volume.path("a"), "");
    await volume.open().remove([volume.path("a"), volume.path("b"), volume.path("c/d")]);
    expect(existsSync(volume.path("a"))).toBe(false);
  });

  it("removes a folder with what is in it, and nothing that a link in it leads to", async () => {
    mkdirSync(volume.path("r1.pod/more"), { recursive: true });
    writeFileSync(volume.path("kept"), "");
    symlinkSync(volume.root, volume.path("r1.pod/more/link"));
    await volume.open().remove([volume.path("r1.pod")]);
    expect([existsSync(volume.path("r1.pod")), existsSync(volume.path("kept"))]).toEqual([false, true]);
  });

  it("says what it cannot remove", async () => {
    mkdirSync(volume.path(`deep${"/x".repeat(70)}`), { recursive: true });
    await expect(volume.open().remove([volume.path("deep")])).rejects.toThrow(/deep.* is too deep to be removed/);
  });
});
