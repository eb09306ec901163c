import { createHash } from "node:crypto";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

// Where another process in the same container finds the adapters of a server: a socket, in a folder that dies with the container. A shared
// volume comes second: not every kind of it can hold sockets, and what a dead pod left there nobody could tell from a live one's.

const SUFFIX = ".sock";
/** Longest path of a socket that every system takes. */
const MAX_PATH = 103;

/** Folders in which sockets may be, best first. */
export function drainFolders(env: NodeJS.ProcessEnv): string[] {
  const name = `paperclip-k8s-${ownUid()}`;
  return [...new Set([join(tmpdir(), name), join("/tmp", name), join(instanceFolder(env), "data", "k8s-drain")])];
}

/** By number: in a container a user may have no name. */
export const ownUid = (): number => process.getuid?.() ?? 0;

/** The instance's folder, as the host itself lays it out. */
export function instanceFolder(env: NodeJS.ProcessEnv): string {
  return join(env.PAPERCLIP_HOME || "/paperclip", "instances", env.PAPERCLIP_INSTANCE_ID || "default");
}

/** One adapter of one server process; null = the folder's name is too long for a socket. */
export function socketPath(folder: string, env: NodeJS.ProcessEnv, pid: number, mark: string): string | null {
  const path = join(folder, `${socketPrefix(env)}${pid}-${mark}${SUFFIX}`);
  return Buffer.byteLength(path) > MAX_PATH ? null : path;
}

/** Names of sockets of this instance on this machine: others may share a folder. */
export function isOurSocket(file: string, env: NodeJS.ProcessEnv): boolean {
  return file.startsWith(socketPrefix(env)) && file.endsWith(SUFFIX);
}

/** The process that a socket belongs to. */
export function socketPid(file: string, env: NodeJS.ProcessEnv): number {
  return Number.parseInt(file.slice(socketPrefix(env).length), 10);
}

const socketPrefix = (env: NodeJS.ProcessEnv): string =>
  `${createHash("sha256")
    .update(`${hostname()}\0${instanceFolder(env)}`)
    .digest("hex")
    .slice(0, 8)}-`;
