import { randomBytes } from "node:crypto";
import { rmdirSync, unlinkSync } from "node:fs";
import { mkdir, readdir, stat, unlink } from "node:fs/promises";
import type { Server, Socket } from "node:net";
import { dirname, join } from "node:path";
import { drainFolders, isOurSocket, ownUid, socketPath, socketPid } from "./address.ts";
import type { Drain } from "./drain.ts";
import { type DrainAnswer, type DrainOrder, parseOrder } from "./protocol.ts";

const PATIENCE_MS = 30_000;
const MAX_ORDER_BYTES = 4096;

export interface DoorOptions {
  readonly adapter: string;
  readonly env: NodeJS.ProcessEnv;
  /** For tests. */
  readonly folders?: readonly string[];
}

/** Through which another process in the same container asks this adapter's runs to leave. */
export interface Door {
  /** Null = no folder could hold a socket: then only `recover` is left after a restart. */
  readonly path: string | null;
  close(): Promise<void>;
}

/** Listens in the first folder that lets it; keeps no process alive and leaves no file behind. */
export async function openDoor(drain: Drain, options: DoorOptions): Promise<Door> {
  const { createServer } = await import("node:net");
  const server = createServer((socket) => serve(socket, drain, options.adapter));
  const folders = options.folders ?? drainFolders(options.env);
  for (const folder of folders) {
    const path = socketPath(folder, options.env, process.pid, randomBytes(3).toString("hex"));
    if (path === null || !(await listens(server, path))) continue;
    await removeStale(folder, options.env);
    const atExit = () => removeNow(path);
    process.once("exit", atExit);
    server.unref();
    const close = async () => {
      process.off("exit", atExit);
      await new Promise((resolve) => server.close(resolve));
      atExit();
    };
    return { path, close };
  }
  return { path: null, close: async () => {} };
}

async function listens(server: Server, path: string): Promise<boolean> {
  try {
    await ownFolder(dirname(path));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, () => {
        server.off("error", reject);
        server.on("error", () => {});
        resolve();
      });
    });
    return true;
  } catch {
    return false;
  }
}

/** Whoever may open the folder may send runs away: one that somebody else has made, or may write to, is not used. */
async function ownFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await stat(folder);
  if (uid !== ownUid() || (mode & 0o022) !== 0) throw new Error(`${folder} is not ours alone`);
}

function serve(socket: Socket, drain: Drain, adapter: string): void {
  let text = "";
  socket.setEncoding("utf8");
  socket.on("error", () => {});
  socket.on("data", (piece: string) => {
    text += piece;
    if (text.length > MAX_ORDER_BYTES) socket.destroy();
    const end = text.indexOf("\n");
    if (end < 0) return;
    const order = parseOrder(text.slice(0, end));
    socket.removeAllListeners("data");
    if (order === null) socket.end();
    else void obey(order, drain, adapter).then((answer) => socket.end(`${JSON.stringify(answer)}\n`));
  });
}

async function obey(order: DrainOrder, drain: Drain, adapter: string): Promise<DrainAnswer> {
  const reason = order.reason ?? "the server is about to stop";
  const report = order.act === "drain" ? await drain.begin(reason, order.patienceMs ?? PATIENCE_MS) : { detached: [], staying: drain.runs };
  if (order.act === "undo") drain.end();
  return { adapter, pid: process.pid, draining: drain.active, runs: drain.runs, ...report };
}

/** A killed process cannot take its socket with it. */
async function removeStale(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const files = await readdir(folder).catch(() => []);
  const dead = files.filter((file) => isOurSocket(file, env) && !isAlive(socketPid(file, env)));
  await Promise.all(dead.map((file) => unlink(join(folder, file)).catch(() => {})));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function removeNow(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already.
  }
  try {
    rmdirSync(dirname(path));
  } catch {
    // Others are in it.
  }
}
