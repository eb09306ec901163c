// The list of an archive's contents: its checksum shows damage, its MAC (a keyed checksum) shows who saved it.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { orNull } from "../files.ts";
import type { StateSpec } from "../records.ts";
import type { TarMember } from "./tar-header.ts";

/** The archive is there and can be read, but it is not what a run of this state has saved. */
export class DamagedArchive extends Error {}

export interface ArchiveInfo {
  readonly run: string;
  readonly at: string;
  readonly version: string | null;
}

/** Last member of the archive: a line of JSON, a line with that line's checksum, and one with its MAC where the run has a key. */
export interface ArchiveManifest extends ArchiveInfo {
  readonly format: 1;
  readonly bytes: number;
  /** In the order in which they stand in the archive. */
  readonly entries: readonly ManifestEntry[];
}

export interface ManifestEntry extends TarMember {
  readonly sha256: string;
}

export type ArchiveTrust = Pick<StateSpec, "key" | "acceptUnsigned">;

export const MANIFEST_NAME = "manifest";
/** The state's own paths stand below it, so that none can be taken for the manifest. */
export const CONTENT_FOLDER = "home";
export const MAX_MANIFEST = 64 * 1024 * 1024;

const PATH_BYTES = 4096;
const SHA256 = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const LAST_TIME_MS = 8.64e15;

export function encodeManifest(manifest: ArchiveManifest, key: string | undefined): Buffer {
  const line = JSON.stringify(manifest);
  return Buffer.from(`${line}\n${sumOf(line)}\n${key === undefined ? "" : `${macOf(line, key)}\n`}`);
}

/** Nothing of an archive may be used before this has taken its list: the entries' checksums stand for the contents. */
export function decodeManifest(
  bytes: Buffer,
  { key, acceptUnsigned = false }: ArchiveTrust,
): { readonly manifest: ArchiveManifest; readonly signed: boolean } {
  const [line = "", sum, mac = ""] = bytes.toString().split("\n", 3);
  if (sumOf(line) !== sum) throw new DamagedArchive("its list of contents cannot be read");
  const signed = mac !== "";
  if (key !== undefined && !signed && !acceptUnsigned) throw new DamagedArchive("it is not signed, so anybody may have written it");
  if (key !== undefined && signed && !isSame(mac, macOf(line, key)))
    throw new DamagedArchive("its signature is not one of this state's runs, or the server's secret has changed");
  const manifest = checkedManifest(orNull(() => JSON.parse(line) as unknown));
  return { manifest, signed };
}

const sumOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The prefix keeps it from being a MAC of anything else that is made with the same key. */
const macOf = (line: string, key: string): string =>
  createHmac("sha256", Buffer.from(key, "base64url")).update(`saved state\n${line}`).digest("base64url");

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function checkedManifest(value: unknown): ArchiveManifest {
  const { format, run, at, version, bytes, entries } = fieldsOf(value);
  if (format !== 1) throw new DamagedArchive("it has a format this runner does not know");
  const isWhole = typeof run === "string" && typeof at === "string" && TIME.test(at) && isCount(bytes) && Array.isArray(entries);
  if (!isWhole || (version !== null && typeof version !== "string")) throw new DamagedArchive("its list of contents is incomplete");
  const seen = new Set<string>();
  const checked = entries.map((entry) => checkedEntry(entry, seen));
  if (checked.reduce((sum, { size }) => sum + size, 0) !== bytes) throw new DamagedArchive("its list of contents has a wrong sum");
  return { format, run: run.slice(0, 200), at, version: version?.slice(0, 200) ?? null, bytes, entries: checked };
}

function checkedEntry(value: unknown, seen: Set<string>): ManifestEntry {
  const { path, kind, size, mode, mtimeMs, sha256 } = fieldsOf(value);
  if (typeof path !== "string" || Buffer.byteLength(path) > PATH_BYTES || path.includes("\0"))
    throw new DamagedArchive("a path in it is no path");
  const name = JSON.stringify(path.slice(0, 200));
  if (seen.has(path)) throw new DamagedArchive(`it holds ${name} twice`);
  seen.add(path);
  if (kind !== "file" && kind !== "folder") throw new DamagedArchive(`${name} in it is neither file nor folder`);
  if (!isCount(size) || (kind === "folder" && size !== 0)) throw new DamagedArchive(`${name} in it has no size`);
  if (typeof sha256 !== "string" || (kind === "file" ? !SHA256.test(sha256) : sha256 !== ""))
    throw new DamagedArchive(`${name} in it has no checksum`);
  if (!isCount(mode) || mode > 0o777) throw new DamagedArchive(`${name} in it has no usual permissions`);
  if (typeof mtimeMs !== "number" || !(Math.abs(mtimeMs) <= LAST_TIME_MS)) throw new DamagedArchive(`${name} in it has no time`);
  return { path, kind, size, mode, mtimeMs, sha256 };
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
