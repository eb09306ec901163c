import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { rmdirSync, rmSync } from "node:fs";
import { lstat, mkdir, unlink } from "node:fs/promises";
import type { Server, Socket } from "node:net";
import { dirname } from "node:path";
import { type ControlAnswer, type ControlCommand, findSockets, ownUid, parseCommand, socketFolders, socketPath } from "./control-socket.ts";
import type { RunRegistry } from "./run-registry.ts";

const MAX_COMMAND_BYTES = 4096;
/** How long a connection may take to send its command; after that it is closed. */
const COMMAND_MS = 30_000;
const MOST_CONNECTIONS = 16;

export interface ControlServerOptions {
  /** The adapters whose runs these are. */
  readonly adapter: () => string;
  readonly env: NodeJS.ProcessEnv;
  /** For tests. */
  readonly folders?: readonly string[];
}

/** The socket through which another process in the same container asks the adapters to detach their runs. */
export interface ControlServer {
  /** Null = no folder could hold a socket: after a restart only `recover` helps. */
  readonly path: string | null;
  close(): Promise<void>;
}

/** Listens in the first folder that allows it. It keeps no process alive and leaves no file behind. */
export async function startControlServer(registry: RunRegistry, options: ControlServerOptions): Promise<ControlServer> {
  const { createServer } = await import("node:net");
  const server = createServer((socket) => serve(socket, registry, options.adapter()));
  server.maxConnections = MOST_CONNECTIONS;
  const folders = options.folders ?? socketFolders(options.env);
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
    await once(server.listen(path), "listening");
    server.on("error", () => {});
    return true;
  } catch {
    return false;
  }
}

/** Whoever may enter the folder could detach runs, so one that is not ours alone is not used, nor a link to one. */
async function ownFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch(() => {});
  const stats = await lstat(folder);
  if (!stats.isDirectory() || stats.uid !== ownUid() || (stats.mode & 0o077) !== 0) throw new Error(`${folder} is not ours alone`);
}

function serve(socket: Socket, registry: RunRegistry, adapter: string): void {
  let text = "";
  socket.setEncoding("utf8");
  socket.on("error", () => {});
  socket.setTimeout(COMMAND_MS, () => socket.destroy());
  socket.on("data", (piece: string) => {
    text += piece;
    const end = text.indexOf("\n");
    if ((end < 0 ? text.length : end) > MAX_COMMAND_BYTES) socket.destroy();
    if (end < 0 || socket.destroyed) return;
    socket.setTimeout(0);
    const command = parseCommand(text.slice(0, end));
    socket.removeAllListeners("data");
    if (command === null) socket.end();
    else void handle(command, registry, adapter).then((answer) => socket.end(`${JSON.stringify(answer)}\n`));
  });
}

async function handle(command: ControlCommand, registry: RunRegistry, adapter: string): Promise<ControlAnswer> {
  const { pid } = process;
  if (command.command === "drain")
    return { adapter, pid, ...(await registry.drain(command.reason ?? "the server is about to stop", command.timeoutMs)) };
  registry.undoDrain();
  return { adapter, pid, detached: [], staying: registry.runs };
}

/** A killed process leaves its socket behind. */
async function removeStale(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const dead = (await findSockets(folder, env)).filter(({ pid }) => !isAlive(pid));
  await Promise.all(dead.map(({ path }) => unlink(path).catch(() => {})));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function removeNow(path: string): void {
  try {
    rmSync(path, { force: true });
    rmdirSync(dirname(path));
  } catch {
    // Other sockets are in the folder.
  }
}
