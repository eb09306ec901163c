import { opendir } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { parseFields } from "../../agent-cli/json-fields.ts";
import { isBelow } from "../../host/context-values.ts";
import { homeOf, instanceFolder } from "../../host/paths.ts";
import { sha256 } from "../../sha256.ts";
import type { DrainReport } from "./run-registry.ts";

// Another process in the same container finds the adapters of a server through sockets in a folder that goes with the container. Never on the
// shared volume: agents' pods have the server's user there, and could listen in a server's place or detach its runs.

const SUFFIX = ".sock";
const MOST_SOCKETS = 100;
/** The longest path of a socket that every system takes. */
const MAX_PATH_BYTES = 103;

/** The longest time that a timer of Node can be set to. */
const LONGEST_MS = 2 ** 31 - 1;

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
  return { command: act, timeoutMs: Math.min(patienceMs, LONGEST_MS), reason: typeof reason === "string" ? reason : null };
}

export function parseAnswer(text: string): ControlAnswer | null {
  const [line = ""] = text.split("\n", 1);
  const { adapter, pid, detached, staying } = parseFields(line) ?? {};
  const isAnswer = typeof adapter === "string" && Number.isSafeInteger(pid) && isListOfTexts(detached) && isListOfTexts(staying);
  return isAnswer ? { adapter, pid: pid as number, detached, staying } : null;
}

const isListOfTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((item) => typeof item === "string");

/** Folders in which a server listens, best first: on disks of its own container. */
export function socketFolders(env: NodeJS.ProcessEnv): string[] {
  const folders = [tmpdir(), "/tmp", "/dev/shm"].map((folder) => join(folder, `paperclip-k8s-${ownUid()}`));
  // A temporary folder may have been put on the volume.
  return [...new Set(folders)].filter((folder) => !isBelow(folder, normalize(homeOf(env))));
}

/** Where a server of an earlier version listens if its container has no folder for it. */
export const earlierFolder = (env: NodeJS.ProcessEnv): string => join(serverInstance(env), "data", "k8s-drain");

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
  const found: FoundSocket[] = [];
  for await (const { name } of await opendir(folder).catch(() => [])) {
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (name.startsWith(prefix) && name.endsWith(SUFFIX) && Number.isSafeInteger(pid)) found.push({ path: join(folder, name), pid });
    // No server has so many adapters: somebody else has filled the folder.
    if (found.length === MOST_SOCKETS) break;
  }
  return found;
}

/** Normalized, because the command line and the server may spell their home differently. */
const serverInstance = (env: NodeJS.ProcessEnv): string => normalize(instanceFolder(homeOf(env), env.PAPERCLIP_INSTANCE_ID || "default"));

const socketPrefix = (env: NodeJS.ProcessEnv): string => `${sha256(`${hostname()}\0${serverInstance(env)}`).slice(0, 8)}-`;
