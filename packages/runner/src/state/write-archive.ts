// Writes a state as one tar file; the list of its contents with their checksums comes last, so that half a file is never taken for a whole one.
import { createHash } from "node:crypto";
import { closeSync, fstatSync, readSync } from "node:fs";
import { openPlain, writeAll } from "../files.ts";
import type { StateEntry } from "./list-state.ts";
import { type ArchiveInfo, type ArchiveManifest, CONTENT_FOLDER, encodeManifest, MANIFEST_NAME, type ManifestEntry } from "./manifest.ts";
import { BLOCK, padding, type TarMember, tarHeader } from "./tar-header.ts";
import { trailer } from "./trailer.ts";

const CHUNK = 1024 * 1024;

type Write = (bytes: Buffer) => void;

/** Without a key the archive is not signed. */
export function writeArchive(
  to: number,
  entries: readonly StateEntry[],
  info: ArchiveInfo,
  key?: string,
  onWritten: (bytes: number) => void = () => {},
): ArchiveManifest {
  const buffer = Buffer.allocUnsafe(CHUNK);
  const written: ManifestEntry[] = [];
  let at = 0;
  const write: Write = (bytes) =>
    writeAll(to, bytes, (count) => {
      at += count;
      onWritten(count);
    });
  for (const entry of entries) {
    const copied = entry.kind === "file" ? copyFile(write, entry, buffer) : writeFolder(write, entry);
    if (copied !== null) written.push(copied);
  }
  const manifest: ArchiveManifest = { format: 1, ...info, bytes: written.reduce((sum, { size }) => sum + size, 0), entries: written };
  const text = encodeManifest(manifest, key);
  const member: TarMember = { path: MANIFEST_NAME, kind: "file", size: text.length, mode: 0o644, mtimeMs: Date.parse(info.at) };
  write(Buffer.concat([tarHeader(member), text, Buffer.alloc(padding(text.length) + 2 * BLOCK), trailer(at)]));
  return manifest;
}

function writeFolder(write: Write, { path, mode, mtimeMs }: StateEntry): ManifestEntry {
  write(tarHeader({ path: `${CONTENT_FOLDER}/${path}`, kind: "folder", size: 0, mode, mtimeMs }));
  return { path, kind: "folder", size: 0, mode, mtimeMs, sha256: "" };
}

/** A file that grows while it is copied is taken as long as it was at first; null when it is gone. */
function copyFile(write: Write, entry: StateEntry, buffer: Buffer): ManifestEntry | null {
  const { path, mode, mtimeMs } = entry;
  const from = openPlain(entry.from);
  if (from === null) return null;
  try {
    const { size } = fstatSync(from);
    const hash = createHash("sha256");
    write(tarHeader({ path: `${CONTENT_FOLDER}/${path}`, kind: "file", size, mode, mtimeMs }));
    for (let at = 0; at < size; ) {
      const count = readSync(from, buffer, 0, Math.min(CHUNK, size - at), at);
      if (count === 0) throw new Error(`"${path}" became shorter while it was copied`);
      const piece = buffer.subarray(0, count);
      hash.update(piece);
      write(piece);
      at += count;
    }
    write(Buffer.alloc(padding(size)));
    return { path, kind: "file", size, mode, mtimeMs, sha256: hash.digest("hex") };
  } finally {
    closeSync(from);
  }
}
