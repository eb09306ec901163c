// Headers of a tar archive: plain ustar, and a pax record for a path that does not fit into one.

export const BLOCK = 512;

export interface TarMember {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
}

export type TarHeader = TarMember | { readonly kind: "long-path"; readonly size: number } | { readonly kind: "end"; readonly size: 0 };

const NAME_BYTES = 100;
const TYPES = { file: "0", folder: "5", "long-path": "x" } as const;

/** Zeros up to the next whole block. */
export const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

export function tarHeader(member: TarMember): Buffer {
  const name = member.kind === "folder" ? `${member.path}/` : member.path;
  if (Buffer.byteLength(name) <= NAME_BYTES) return block(name, TYPES[member.kind], member);
  const record = paxRecord("path", name);
  const long = block("path", TYPES["long-path"], { ...member, size: record.length });
  return Buffer.concat([long, record, Buffer.alloc(padding(record.length)), block("see-path", TYPES[member.kind], member)]);
}

/** null when the block is no header. */
export function readTarHeader(bytes: Buffer): TarHeader | null {
  if (bytes.every((byte) => byte === 0)) return { kind: "end", size: 0 };
  if (Number.parseInt(text(bytes, 148, 8), 8) !== checksum(bytes)) return null;
  const size = Number.parseInt(text(bytes, 124, 12), 8);
  const type = text(bytes, 156, 1);
  if (!Number.isSafeInteger(size) || size < 0) return null;
  if (type === TYPES["long-path"]) return { kind: "long-path", size };
  const kind = type === TYPES.folder ? "folder" : type === TYPES.file ? "file" : null;
  const [mode, seconds] = [Number.parseInt(text(bytes, 100, 8), 8), Number.parseInt(text(bytes, 136, 12), 8)];
  return kind && { kind, size, mode, mtimeMs: seconds * 1000, path: text(bytes, 0, NAME_BYTES).replace(/\/$/, "") };
}

export function readPaxPath(bytes: Buffer): string | null {
  const [begin, length] = /^(\d{1,6}) path=/.exec(bytes.toString("latin1", 0, 20)) ?? [];
  if (begin === undefined || Number(length) !== bytes.length) return null;
  return bytes.toString("utf8", begin.length, bytes.length - 1).replace(/\/$/, "");
}

function block(name: string, type: string, { size, mode, mtimeMs }: TarMember): Buffer {
  const bytes = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number): string => Math.floor(value).toString(8).padStart(digits, "0");
  bytes.write(name, 0, NAME_BYTES);
  bytes.write(octal(mode, 7), 100);
  for (const owner of [108, 116]) bytes.write(octal(0, 7), owner);
  bytes.write(octal(size, 11), 124);
  bytes.write(octal(Math.max(0, mtimeMs / 1000), 11), 136);
  bytes.write(type, 156);
  bytes.write("ustar\x0000", 257);
  bytes.write(`${octal(checksum(bytes), 6)}\0 `, 148);
  return bytes;
}

/** Its own eight bytes count as spaces. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < BLOCK; at++) sum += at >= 148 && at < 156 ? 0x20 : (bytes[at] ?? 0);
  return sum;
}

/** The length counts itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (String(length).length + Buffer.byteLength(rest) !== length) length = String(length).length + Buffer.byteLength(rest);
  return Buffer.from(`${length}${rest}`);
}

function text(bytes: Buffer, at: number, length: number): string {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? length : end);
}
