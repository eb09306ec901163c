// Unpacks an archive: first its manifest is found and checked, then each member must be what the manifest says. Only a whole one gets into the home.
import { createHash } from "node:crypto";
import { closeSync, constants, fchmodSync, futimesSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, writeAll } from "../files.ts";
import { ArchiveBlocks, type ArchiveSource } from "./archive-blocks.ts";
import { lookAt } from "./list-state.ts";
import {
  type ArchiveManifest,
  type ArchiveTrust,
  CONTENT_FOLDER,
  DamagedArchive,
  decodeManifest,
  MANIFEST_NAME,
  MAX_MANIFEST,
  type ManifestEntry,
} from "./manifest.ts";
import { readTrailer } from "./trailer.ts";

export interface Unpacking {
  readonly home: string;
  /** Keeps an archive from writing anywhere but where the state is. */
  readonly isWanted: (path: string) => boolean;
  /** An archive with more is not unpacked: it would fill the pod's disk. */
  readonly maxBytes: number;
  readonly trust: ArchiveTrust;
  /** So many more bytes were read. */
  readonly onRead: (bytes: number) => void;
}

export interface Unpacked {
  readonly manifest: ArchiveManifest;
  readonly signed: boolean;
}

/** Begins the name of the folder in the home that an archive is unpacked into, until all of it has been checked. */
const UNPACKING = ".restoring-";
/** More members than this do not fit into a list of contents. */
const MAX_MEMBERS = 500_000;
const IMPOSSIBLE = ["EEXIST", "ENOTDIR", "EISDIR", "ENAMETOOLONG", "EINVAL", "ENOENT"];
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

export function unpackArchive(source: ArchiveSource, { home, isWanted, maxBytes, trust, onRead }: Unpacking): Unpacked {
  const at = readTrailer(source) ?? findManifest(source, onRead);
  const { manifest, signed } = decodeManifest(readManifest(source, at, onRead), trust);
  const stranger = manifest.entries.find(({ path }) => !isWanted(path));
  if (stranger) throw new DamagedArchive(`it holds ${JSON.stringify(`${CONTENT_FOLDER}/${stranger.path.slice(0, 200)}`)}`);
  if (manifest.bytes > maxBytes) throw new DamagedArchive(`it has ${manifest.bytes} bytes, ${maxBytes} are allowed`);
  mkdirSync(home, { recursive: true });
  const folder = mkdtempSync(join(home, UNPACKING));
  try {
    const blocks = new ArchiveBlocks(source, 0, onRead);
    for (const entry of manifest.entries) unpackEntry(blocks, entry, folder);
    if (blocks.at !== at) throw new DamagedArchive("it holds more than its list of contents names");
    moveInto(home, folder, manifest.entries);
    return { manifest, signed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Goes from member to member: archives of earlier versions do not say where their manifest is. */
function findManifest(source: ArchiveSource, onRead: (bytes: number) => void): number {
  const blocks = new ArchiveBlocks(source, 0, onRead);
  for (let count = 0; count < MAX_MEMBERS; count++) {
    const { at } = blocks;
    const { path, size } = blocks.member();
    if (path === MANIFEST_NAME) return at;
    blocks.skip(size);
  }
  throw new DamagedArchive("it has too many members");
}

function readManifest(source: ArchiveSource, at: number, onRead: (bytes: number) => void): Buffer {
  const blocks = new ArchiveBlocks(source, at, onRead);
  const { path, kind, size } = blocks.member();
  if (path !== MANIFEST_NAME || kind !== "file") throw new DamagedArchive("it is torn");
  if (size > MAX_MANIFEST) throw new DamagedArchive("its list of contents is too long");
  return blocks.content(size);
}

function unpackEntry(blocks: ArchiveBlocks, entry: ManifestEntry, folder: string): void {
  const { path, kind, size } = blocks.member();
  const isListed = path === `${CONTENT_FOLDER}/${entry.path}` && kind === entry.kind && size === entry.size;
  if (!isListed) throw new DamagedArchive("its contents are not those of its list");
  try {
    makeFolders(folder, kind === "folder" ? entry.path : dirname(entry.path));
    if (kind === "file") unpackFile(join(folder, entry.path), entry, blocks);
  } catch (error) {
    // The folder was new and empty, so that only the archive itself can cause these errors.
    if (IMPOSSIBLE.includes(codeOf(error))) throw new DamagedArchive(`${JSON.stringify(entry.path.slice(0, 200))} in it has no place`);
    throw error;
  }
}

function unpackFile(target: string, { size, sha256, mode, mtimeMs }: ManifestEntry, blocks: ArchiveBlocks): void {
  const fd = openSync(target, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    for (const piece of blocks.pieces(size)) {
      hash.update(piece);
      writeAll(fd, piece);
    }
    if (hash.digest("hex") !== sha256) throw new DamagedArchive("its contents do not fit its checksums");
    fchmodSync(fd, mode);
    futimesSync(fd, mtimeMs / 1000, mtimeMs / 1000);
  } finally {
    closeSync(fd);
  }
}

/** Files are moved, folders made: those that are there already keep what else is in them. */
function moveInto(home: string, folder: string, entries: readonly ManifestEntry[]): void {
  for (const { path, kind } of entries) {
    makeFolders(home, kind === "folder" ? path : dirname(path));
    if (kind === "file") renameSync(join(folder, path), join(home, path));
  }
  // The innermost first, for what is put into a folder changes its time.
  for (const entry of [...entries].reverse()) if (entry.kind === "folder") setAttributes(join(home, entry.path), entry);
}

/** By descriptor: a path could lead through a link. */
function setAttributes(path: string, { mode, mtimeMs }: ManifestEntry): void {
  const fd = openSync(path, FOLDER);
  try {
    fchmodSync(fd, mode);
    futimesSync(fd, mtimeMs / 1000, mtimeMs / 1000);
  } finally {
    closeSync(fd);
  }
}

/** Makes one folder at a time, so that a link on the way is noticed. */
function makeFolders(root: string, path: string): void {
  let folder = root;
  for (const name of path.split("/")) {
    folder = join(folder, name);
    if (!lookAt(folder)?.isDirectory()) mkdirSync(folder, 0o700);
  }
}
