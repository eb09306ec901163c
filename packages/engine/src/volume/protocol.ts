// The messages between the server and the process of a volume, over its IPC channel.
import type { WakeUpAddress, WakeUpKind } from "@paperclip-k8s/runner/wake-up";

/** Largest piece of a file in one message. */
export const chunkBytes = 64 * 1024;
/** How much of one file may be on its way to a consumer that has not taken it yet. */
export const creditBytes = 256 * 1024;

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Whose links are followed. `none`: pods write there, so a path that begins below the root has to end there, and a server that is root,
 * which may read what pods cannot, follows none at all. `all`: a place of the operator's own, which ends neither in `shared` nor in what
 * the kernel shows as files.
 */
type Links = "none" | "all";

/** What is read, and from where. */
interface ReadOf {
  readonly path: string;
  readonly links: Links;
  /** Folders in one of which the path has to end; unless set, the whole root or, with `all`, anywhere. Where pods write, those elsewhere do not count. */
  readonly within?: readonly string[];
  /** Folders that pods write to. */
  readonly shared?: readonly string[];
  /** Where `locate` found it: it has to be there still. */
  readonly at?: string;
}

/** Where a path ends: `names` are its paths by way of the folders in which it may end, whose own links are the operator's. */
export interface Place {
  readonly path: string;
  readonly names: readonly string[];
}

/** A file of a tree, by its path in it; a tree that is one file has the path "". */
export interface TreeFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly executable: boolean;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
  /** Where a link leads, as it is written in it. */
  readonly target: string | null;
}

/** What is at a path of the volume. */
export interface SeenPath {
  readonly path: string;
  readonly kind: FolderEntry["kind"] | "missing";
  /** The link that stands there or on the way there. */
  readonly link: string | null;
}

/** Which entries of a folder may go, and when. */
export interface SweepRule {
  /** Begins the names of entries that are being removed, or were never finished. */
  readonly unfinished: string;
  readonly unfinishedKeptMs: number;
  /** A file in each entry whose modification time is the entry's last use; without it the entry's own time is. */
  readonly marker: string | null;
  readonly keptMs: number;
  /** Of more entries than this, those unused for longest are kept for `surplusKeptMs` only. */
  readonly most: number;
  readonly surplusKeptMs: number;
  /** The name of an entry that stays, however old. */
  readonly except: string | null;
}

/** An entry that may go. */
export interface StaleEntry {
  readonly folder: string;
  readonly name: string;
  readonly usedUntil: number;
  readonly keptMs: number;
}

/** Where to listen for wake-ups: at the first of these addresses, and there the first of these ports, that can be had. Port 0 = any. */
export interface ListenOptions {
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
}

/** By what a run's wake-ups are known as its own, and which of its files is meant. */
export interface WakeUpSource {
  readonly token: Uint8Array;
  readonly kind: WakeUpKind;
}

/** What a run's pod finds on the volume. */
export interface Prepared {
  readonly paths: readonly string[];
  readonly folders: readonly string[];
  readonly owner: FileOwner | null;
  /** A file with this text, in place of what was there. */
  readonly note?: { readonly path: string; readonly text: string };
}

/** What the process does with files, by name. Each may be repeated without harm: a process that dies is replaced and asked again. */
export interface Operations {
  /** Creates files and folders where absent, writable for the pod's user. Their content stays. */
  prepare(of: Prepared): void;
  /** Makes a file with this text, in a folder that is there. False = there is one of this name. */
  claim(of: { readonly path: string; readonly text: string }): boolean;
  /** Files, and folders with what is in them. Missing ones are fine. */
  remove(of: { readonly paths: readonly string[] }): void;
  /** Where a path ends. */
  locate(of: ReadOf): Place;
  readFile(of: ReadOf & { readonly maxBytes: number }): Buffer;
  /** The last bytes of a file, at most so many of them: a line may begin before. */
  readLast(of: ReadOf & { readonly bytes: number }): Buffer;
  /** A file that only the server may read; `bytes`: with which it is made where it is missing, null = it is not. */
  keepSecret(of: { readonly path: string; readonly bytes: Buffer | null }): Buffer;
  /** Copies the last whole lines of a file, at most so many bytes of them, to a file that only the server may read. False = there are none. */
  keepEnd(of: { readonly from: string; readonly to: string; readonly bytes: number; readonly unfinished: string }): boolean;
  /** Sorted by name. */
  listFolder(of: ReadOf): FolderEntry[];
  /** All regular files below a folder, or the one file. Links in it are left out. */
  readTree(of: ReadOf & { readonly limits: TreeLimits }): TreeFile[];
  /** What is at these paths below the root, in their order, without following any link. */
  lookAt(of: { readonly paths: readonly string[] }): SeenPath[];
  /** Finds a folder with exactly these files, or writes one in a single step; returns its name, which begins with `key`. */
  storeTree(of: StoreTree): string;
  findStale(of: { readonly folder: string; readonly rule: SweepRule; readonly now: number }): StaleEntry[];
  /** False = it came into use meanwhile, and stays. */
  removeStale(of: { readonly entry: StaleEntry; readonly rule: SweepRule; readonly now: number }): boolean;
  /** Takes wake-ups from now on, at the address that is returned. */
  listen(of: ListenOptions): WakeUpAddress;
}

export interface TreeLimits {
  readonly files: number;
  readonly bytes: number;
  readonly fileBytes: number;
  readonly depth: number;
  /** Names of folders that are left out. */
  readonly without: readonly string[];
}

export interface StoreTree {
  readonly folder: string;
  readonly key: string;
  readonly files: readonly TreeFile[];
  /** Until when it is needed; kept as its modification time. */
  readonly usedUntil: number;
  /** Begins the names of folders that are not complete yet. */
  readonly unfinished: string;
}

export type OperationName = keyof Operations;
/** What an operation is given. */
export type Of<N extends OperationName> = Parameters<Operations[N]>[0];

/** A request is answered with the same `ask` number, once. */
export type Request =
  | { readonly type: "refresh"; readonly ask: number; readonly id: number }
  | { readonly type: "operation"; readonly ask: number; readonly name: OperationName; readonly of: unknown };

export interface OpenFile {
  readonly type: "open";
  readonly id: number;
  readonly path: string;
  readonly offset: number;
  readonly expected: number;
  /** What lies beyond is not read: a pod can write to the file as it likes. */
  readonly maxBytes: number;
  /** The consumer knows this file as unreadable and waits to hear that it can be read. */
  readonly unreadable: boolean;
  /** Absent = nobody tells when the file grows. */
  readonly wakeUp?: WakeUpSource;
}

export type ToVolume =
  | Request
  | OpenFile
  | { readonly type: "close"; readonly id: number }
  | { readonly type: "ack"; readonly id: number; readonly bytes: number }
  | { readonly type: "expect" | "limit"; readonly id: number; readonly bytes: number };

export type Answer =
  | { readonly type: "done"; readonly ask: number; readonly result: unknown }
  | { readonly type: "failed"; readonly ask: number; readonly fault: Fault };

export type FromVolume =
  | Answer
  | { readonly type: "alive" }
  /** There is no room on the volume, or there is again. */
  | { readonly type: "room"; readonly full: boolean }
  | { readonly type: "bytes"; readonly id: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly type: "unreadable"; readonly id: number; readonly fault: Fault }
  | { readonly type: "readable"; readonly id: number };

/** An error of the file system as plain data. */
export interface Fault {
  /** `ENOENT`, `EACCES`, … or "" */
  readonly errno: string;
  readonly message: string;
  readonly path: string;
}

export function faultOf(error: unknown, path: string): Fault {
  const { code, message, path: own } = error as NodeJS.ErrnoException;
  return { errno: code ?? "", message: message ?? String(error), path: own ?? path };
}
