import { hash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { parseFields } from "../../agent-cli/json-fields.ts";
import { instanceFolder } from "../../host/paths.ts";
import type { DrainReport } from "./run-registry.ts";

// Another process in the same container finds the adapters of a server through sockets in a folder that goes with the container. The shared
// volume comes second: not every filesystem can hold sockets, and a socket that a dead pod left there looks like a live one's.

const SUFFIX = ".sock";
/** The longest path of a socket that every system takes. */
const MAX_PATH_BYTES = 103;

/** What is sent to an adapter. */
export type ControlCommand =
  | { readonly command: "drain"; readonly timeoutMs: number; readonly reason: string | null }
  | { readonly command: "undo" };

/** What an adapter answers, as one line of JSON. */
export interface ControlAnswer extends DrainReport {
  readonly adapter: string;
  readonly pid: number;
}

/** The names on the wire are the first release's: the command line and the adapters of a server may be of different versions. */
export function encodeCommand(command: ControlCommand): string {
  const wire =
    command.command === "undo" ? { act: "undo" } : { act: "drain", patienceMs: command.timeoutMs, reason: command.reason ?? undefined };
  return `${JSON.stringify(wire)}\n`;
}

export function parseCommand(line: string): ControlCommand | null {
  const { act, patienceMs, reason } = parseFields(line) ?? {};
  if (act === "undo") return { command: act };
  if (act !== "drain" || typeof patienceMs !== "number" || !(patienceMs >= 0)) return null;
  return { command: act, timeoutMs: patienceMs, reason: typeof reason === "string" ? reason : null };
}

export function parseAnswer(line: string): ControlAnswer | null {
  const { adapter, pid, detached, staying } = parseFields(line) ?? {};
  const isAnswer = typeof adapter === "string" && typeof pid === "number" && Array.isArray(detached) && Array.isArray(staying);
  return isAnswer ? { adapter, pid, detached: detached.map(String), staying: staying.map(String) } : null;
}

/** Folders in which sockets may be, best first. */
export function socketFolders(env: NodeJS.ProcessEnv): string[] {
  const name = `paperclip-k8s-${ownUid()}`;
  return [...new Set([join(tmpdir(), name), join("/tmp", name), join(serverInstance(env), "data", "k8s-drain")])];
}

/** By number: in a container a user may have no name. */
export const ownUid = (): number => process.getuid?.() ?? 0;

/** The socket of one adapter of one server process; null = the folder's name is too long for a socket. */
export function socketPath(folder: string, env: NodeJS.ProcessEnv, pid: number, mark: string): string | null {
  const path = join(folder, `${socketPrefix(env)}${pid}-${mark}${SUFFIX}`);
  return Buffer.byteLength(path) > MAX_PATH_BYTES ? null : path;
}

export interface FoundSocket {
  readonly path: string;
  /** The process that it belongs to. */
  readonly pid: number;
}

/** Sockets of this instance on this machine: others may share the folder. */
export async function findSockets(folder: string, env: NodeJS.ProcessEnv): Promise<FoundSocket[]> {
  const prefix = socketPrefix(env);
  const files = (await readdir(folder).catch(() => [])).filter((file) => file.startsWith(prefix) && file.endsWith(SUFFIX));
  return files.map((file) => ({ path: join(folder, file), pid: Number.parseInt(file.slice(prefix.length), 10) }));
}

/** Normalized, because the command line and the server may spell their home differently. */
const serverInstance = (env: NodeJS.ProcessEnv): string =>
  normalize(instanceFolder(env.PAPERCLIP_HOME || "/paperclip", env.PAPERCLIP_INSTANCE_ID || "default"));

const socketPrefix = (env: NodeJS.ProcessEnv): string => `${hash("sha256", `${hostname()}\0${serverInstance(env)}`).slice(0, 8)}-`;
