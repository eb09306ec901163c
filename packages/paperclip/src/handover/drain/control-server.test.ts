import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { drainFolders, socketPath } from "./address.ts";
import { callControlSocket } from "./control-client.ts";
import { type Door, openDoor } from "./control-server.ts";
import { Drain } from "./drain.ts";

let folder = "";
const doors: Door[] = [];
const env = { PAPERCLIP_HOME: "/data" };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "door-"));
});
afterEach(async () => {
  for (const door of doors.splice(0)) await door.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(drain: Drain, adapter: string, folders = [folder]): Promise<Door> {
  const door = await openDoor(drain, { adapter, env, folders });
  doors.push(door);
  return door;
}

test("every adapter behind a door is asked, and says who left", async () => {
  const [one, two] = [new Drain(), new Drain()];
  await open(one, "opencode_k8s");
  await open(two, "claude_k8s");
  const visit = one.enter({ runId: "r1", detachable: true, status: async () => ({ status: "failed", errorCode: "k8s_detached" }) });
  visit.detach.addEventListener("abort", () => visit.leave());
  two.enter({ runId: "r2", detachable: false, status: null });
  const answers = await callControlSocket(
    { act: "drain", reason: "upgrade", patienceMs: 1000 },
    { env, folders: [folder], timeoutMs: 30_000 },
  );
  expect(answers.sort((a, b) => a.adapter.localeCompare(b.adapter))).toMatchObject([
    { adapter: "claude_k8s", pid: process.pid, draining: true, runs: ["r2"], detached: [], staying: ["r2"] },
    { adapter: "opencode_k8s", pid: process.pid, draining: true, runs: [], detached: ["r1"], staying: [] },
  ]);
  await callControlSocket({ act: "undo" }, { env, folders: [folder], timeoutMs: 30_000 });
  expect([one.active, two.active]).toEqual([false, false]);
});

test("another instance's doors are not knocked at", async () => {
  await open(new Drain(), "opencode_k8s");
  const other = { PAPERCLIP_HOME: "/elsewhere" };
  expect(await callControlSocket({ act: "status" }, { env: other, folders: [folder], timeoutMs: 30_000 })).toEqual([]);
});

test("a folder that can hold no socket gives way to the next", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  const long = join(folder, "x".repeat(100));
  const door = await open(new Drain(), "opencode_k8s", [join(file, "below"), long, folder]);
  expect(door.path?.startsWith(`${folder}/`)).toBe(true);
  expect((await open(new Drain(), "opencode_k8s", [long])).path).toBeNull();
});

test("a folder that others may write to is not used", async () => {
  const shared = join(folder, "shared");
  mkdirSync(shared);
  chmodSync(shared, 0o777);
  expect((await open(new Drain(), "opencode_k8s", [shared])).path).toBeNull();
});

test("what a killed process left is nobody, and is removed by the next", async () => {
  const dead = Number(execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }));
  const stale = socketPath(folder, env, dead, "abc123") ?? "";
  // A file of that name answers like a socket without a process.
  writeFileSync(stale, "");
  expect(await callControlSocket({ act: "status" }, { env, folders: [folder], timeoutMs: 30_000 })).toEqual([]);
  await open(new Drain(), "opencode_k8s");
  expect(existsSync(stale)).toBe(false);
});

test("a closed door leaves nothing; nonsense is not answered", async () => {
  const door = await openDoor(new Drain(), { adapter: "opencode_k8s", env, folders: [join(folder, "own")] });
  const said = await new Promise<string>((resolve) => {
    let text = "";
    const socket = connect(door.path ?? "", () => socket.write("hello\n"));
    socket.on("data", (piece) => {
      text += piece;
    });
    socket.on("close", () => resolve(text));
  });
  expect(said).toBe("");
  await door.close();
  expect(readdirSync(folder)).toEqual([]);
});

test("a door that does not answer costs its time and no more", async () => {
  const path = socketPath(folder, env, process.pid, "mute00") ?? "";
  const mute = createServer(() => {}).listen(path);
  try {
    expect(await callControlSocket({ act: "status" }, { env, folders: [folder], timeoutMs: 300 })).toEqual([]);
  } finally {
    mute.close();
  }
});

test("the container's own folder comes before the shared volume's", () => {
  expect(drainFolders(env).at(0)).toContain(tmpdir());
  expect(drainFolders(env).at(-1)).toBe("/data/instances/default/data/k8s-drain");
});
