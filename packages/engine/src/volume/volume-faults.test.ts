import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, closeSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runFiles } from "../request.ts";
import { collector, isAlive, type Scratch, scratch, until } from "./testing/scratch.ts";
import { volumePid } from "./volume.ts";

let volume: Scratch;
beforeEach(() => {
  volume = scratch();
});
afterEach(() => volume.end());

async function running(): Promise<number> {
  await until(() => volumePid(volume.root) !== null);
  return volume.pid();
}

describe("a reader that is killed", () => {
  it("is replaced, again and again, and nothing is lost or given twice", async () => {
    const path = volume.path("a");
    const fd = openSync(path, "w");
    const got = collector();
    const onBytes = async (bytes: Buffer): Promise<void> => {
      await sleep(1);
      got.onBytes(bytes);
    };
    const tail = volume.open().tail(path, { onBytes });
    const lines: string[] = [];
    for (let kill = 0; kill < 4; kill++) {
      for (let i = 0; i < 20; i++) {
        const line = `${lines.length} ${"x".repeat((lines.length * 7919) % 20_000)}\n`;
        lines.push(line);
        writeSync(fd, line);
        if (i === 10) process.kill(await running(), "SIGKILL");
        await sleep(1);
      }
      if (kill % 2 === 0) await until(() => tail.delivered > 0);
      await sleep(kill * 40);
    }
    closeSync(fd);
    await until(() => tail.delivered === Buffer.byteLength(lines.join("")));
    expect(got.text() === lines.join("")).toBe(true);
  });

  it("does not lose the questions it was asked", async () => {
    const shared = volume.open();
    await shared.remove([]);
    const pid = volume.pid();
    process.kill(pid, "SIGSTOP");
    const prepared = shared.prepare(runFiles(volume.path("r1")), null);
    process.kill(pid, "SIGKILL");
    await prepared;
  });
});

it("a process that takes long to begin is no volume that does not answer", async () => {
  const shared = volume.open({ stallAfterMs: 1000 });
  const prepared = shared.prepare(runFiles(volume.path("late")), null);
  const pid = volume.pid();
  process.kill(pid, "SIGSTOP");
  await sleep(2500);
  process.kill(pid, "SIGCONT");
  await prepared;
});

describe("a volume that does not answer", () => {
  it("is reported to its own tails and so is its return", async () => {
    const other = scratch();
    const said: string[] = [];
    const got = collector();
    let now = 0;
    const shared = volume.open({ stallAfterMs: 500, clock: () => now });
    const path = volume.path("a");
    writeFileSync(path, "one\n");
    writeFileSync(other.path("a"), "");
    const tail = shared.tail(path, { ...got, onStall: (error) => said.push(error), onBack: () => said.push("back") });
    const unaffected = other.open().tail(other.path("a"), { onBytes: () => {}, onStall: (error) => said.push(error) });
    await tail.refresh();
    await unaffected.refresh();
    const pid = volume.pid();
    process.kill(pid, "SIGSTOP");
    const time = setInterval(() => (now += 50), 50);
    const pending = [tail.refresh(600_000), shared.prepare(runFiles(volume.path("r1")), null), shared.remove([path])];
    const results = await Promise.allSettled(pending);
    expect(results.map((each) => (each as PromiseRejectedResult).reason?.code)).toEqual(new Array(3).fill("volume_stalled"));
    expect(said).toEqual([expect.stringContaining(volume.root)]);
    await expect(shared.remove([path])).rejects.toMatchObject({ code: "volume_stalled", path });
    appendFileSync(other.path("a"), "flows\n");
    await until(() => unaffected.delivered === 6);
    appendFileSync(path, "two\n");
    clearInterval(time);
    process.kill(pid, "SIGCONT");
    await until(() => said.length === 2);
    expect(said[1]).toBe("back");
    await other.end();
  });

  it("costs a process that follows nothing its life: the next request meets a new one", async () => {
    let now = 0;
    const shared = volume.open({ stallAfterMs: 500, clock: () => now });
    const list = () => shared.run("listFolder", { path: volume.root, links: "none" }, 600_000);
    expect(await list()).toEqual([]);
    const stuck = volume.pid();
    process.kill(stuck, "SIGSTOP");
    const time = setInterval(() => (now += 50), 50);
    await expect(list()).rejects.toMatchObject({ code: "volume_stalled", message: `the volume at ${volume.root} does not answer` });
    clearInterval(time);
    await until(() => !isAlive(stuck));
    // It counts as stalled until the new one has given a sign of life.
    await expect.poll(() => list().catch(() => null)).toEqual([]);
    expect(volume.pid()).not.toBe(stuck);
  });

  it("makes an operation fail in its own time", async () => {
    const shared = volume.open({ stallAfterMs: 600_000 });
    const list = (timeoutMs: number) => shared.run("listFolder", { path: volume.root, links: "none" }, timeoutMs);
    await list(600_000);
    process.kill(volume.pid(), "SIGSTOP");
    await expect(list(100)).rejects.toMatchObject({ code: "volume_stalled" });
    process.kill(volume.pid(), "SIGCONT");
  });

  it("makes a refresh fail in its own time", async () => {
    const tail = volume.open({ stallAfterMs: 600_000 }).tail(volume.path("a"), { onBytes: () => {} });
    await tail.refresh();
    process.kill(volume.pid(), "SIGSTOP");
    await expect(tail.refresh(100)).rejects.toMatchObject({ code: "volume_stalled" });
    process.kill(volume.pid(), "SIGCONT");
  });
});

/** Without root there is nothing to mount a volume with. */
describe.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)("a volume that is full", () => {
  beforeEach(() => void execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", volume.root]));
  afterEach(() => void execFileSync("umount", ["--lazy", volume.root]));

  it("is reported to a tail that is opened on it, as to those before, and so is the room that there is again", async () => {
    writeFileSync(volume.path("ballast"), Buffer.alloc(1_000_000));
    const shared = volume.open();
    const rooms: Record<"before" | "later", boolean[]> = { before: [], later: [] };
    const followed = (whose: keyof typeof rooms) =>
      shared.tail(volume.path(whose), { onBytes: () => {}, onRoom: (full) => rooms[whose].push(full) });
    followed("before");
    // Looked at every 5 s.
    await until(() => rooms.before.length > 0);
    followed("later");
    expect(rooms).toEqual({ before: [true], later: [true] });
    rmSync(volume.path("ballast"));
    // A process that has just begun has seen no want of room.
    process.kill(volume.pid(), "SIGKILL");
    await until(() => rooms.later.length > 1);
    expect(rooms).toEqual({ before: [true, false], later: [true, false] });
  });
});

// A server of its own, so that it can end.
function server(script: string) {
  const source = `const { openVolume, volumePid } = await import(${JSON.stringify(new URL("./volume.ts", import.meta.url).href)});
    const root = ${JSON.stringify(volume.root)}; const path = root + "/a";
    const volume = openVolume(root); const tail = volume.tail(path, { onBytes: () => {} });
    await tail.refresh(); console.log(volumePid(root)); ${script}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, exited, reader: async () => Number((await lines.next()).value) };
}

describe("a server that ends", () => {
  it("can exit although its reader is stuck", async () => {
    const { reader, exited } = server('process.kill(volumePid(root), "SIGSTOP"); tail.refresh().catch(() => {}); process.exit(7);');
    const pid = await reader();
    expect(await exited).toBe(7);
    await until(() => !isAlive(pid));
  });

  it("is not kept alive by tails and takes its reader with it", async () => {
    const { reader, exited } = server("");
    const pid = await reader();
    expect(await exited).toBe(0);
    await until(() => !isAlive(pid));
  });

  it("leaves no reader behind when it is killed", async () => {
    const { child, reader, exited } = server("setInterval(() => {}, 1000);");
    const pid = await reader();
    expect(isAlive(pid)).toBe(true);
    child.kill("SIGKILL");
    await exited;
    await until(() => !isAlive(pid));
  });

  it("keeps its reader through signals to the whole group", async () => {
    const { child, reader, exited } = server("setInterval(() => {}, 1000);");
    const pid = await reader();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.kill(pid, signal);
    await sleep(100);
    expect(isAlive(pid)).toBe(true);
    child.kill("SIGKILL");
    await exited;
    await until(() => !isAlive(pid));
  });
});
