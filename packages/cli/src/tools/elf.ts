import { readSync } from "node:fs";

// The part of an ELF file that decides with which loader and libraries it starts. Only 64-bit little-endian files of two processors.

export type Machine = "x86_64" | "aarch64";

export interface Elf {
  readonly machine: Machine;
  /** Where the path of the dynamic loader stands; `size` counts the NUL at its end. Null = it needs none. */
  readonly interpreter: { readonly path: string; readonly offset: number; readonly size: number } | null;
  /** Names of the libraries it asks for. */
  readonly needed: readonly string[];
  /** Folders in which it looks for them first. */
  readonly runPaths: readonly string[];
}

/** Why a file is no such ELF file; the caller knows which one it is. */
export class ElfError extends Error {
  override readonly name = "ElfError";
}

const MACHINES: Readonly<Record<number, Machine>> = { 62: "x86_64", 183: "aarch64" };
const HEADER = 64;
const SEGMENT = 56;
const ENTRY = 16;
const PT = { load: 1, dynamic: 2, interpreter: 3 } as const;
const DT = { end: 0n, needed: 1n, strings: 5n, runPath: 29n, oldRunPath: 15n } as const;
const MOST_SEGMENTS = 256;
const MOST_DYNAMIC = 64 * 1024;
const MOST_TEXT = 4096;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/** Reads from an open file no more than it needs: programs have hundreds of megabytes. */
export function readElf(fd: number): Elf {
  const header = read(fd, 0, HEADER);
  if (header.length < HEADER || header.readUInt32BE(0) !== 0x7f454c46) throw new ElfError("is not an ELF file");
  if (header[4] !== 2 || header[5] !== 1) throw new ElfError("is not a 64-bit little-endian ELF file");
  const machine = MACHINES[header.readUInt16LE(18)];
  if (machine === undefined) throw new ElfError("is for another processor than x86-64 or aarch64");
  const segments = readSegments(fd, header);
  const dynamic = readDynamic(fd, segments);
  const textsAt = offsetOf(segments, dynamic.find(([tag]) => tag === DT.strings)?.[1] ?? 0n);
  const texts = (tag: bigint) => dynamic.filter(([each]) => each === tag).map(([, at]) => readText(fd, textsAt + number(at)));
  const newer = texts(DT.runPath);
  const runPaths = (newer.length > 0 ? newer : texts(DT.oldRunPath)).flatMap((path) => path.split(":")).filter((path) => path !== "");
  return { machine, interpreter: readInterpreter(fd, segments), needed: texts(DT.needed), runPaths };
}

function readSegments(fd: number, header: Buffer): readonly Segment[] {
  const count = header.readUInt16LE(56);
  if (header.readUInt16LE(54) !== SEGMENT || count > MOST_SEGMENTS) throw new ElfError("has program headers of an unknown form");
  const bytes = whole(fd, number(header.readBigUInt64LE(32)), count * SEGMENT);
  return Array.from({ length: count }, (_, index) => {
    const at = (offset: number) => number(bytes.readBigUInt64LE(index * SEGMENT + offset));
    return { type: bytes.readUInt32LE(index * SEGMENT), offset: at(8), address: at(16), size: at(32) };
  });
}

function readDynamic(fd: number, segments: readonly Segment[]): readonly (readonly [tag: bigint, value: bigint])[] {
  const segment = segments.find(({ type }) => type === PT.dynamic);
  if (segment === undefined) return [];
  if (segment.size > MOST_DYNAMIC) throw new ElfError("has a dynamic section of an unknown form");
  const bytes = whole(fd, segment.offset, segment.size);
  const entries = Array.from({ length: Math.floor(segment.size / ENTRY) }, (_, index) => {
    return [bytes.readBigInt64LE(index * ENTRY), bytes.readBigUInt64LE(index * ENTRY + 8)] as const;
  });
  const end = entries.findIndex(([tag]) => tag === DT.end);
  return end === -1 ? entries : entries.slice(0, end);
}

function readInterpreter(fd: number, segments: readonly Segment[]): Elf["interpreter"] {
  const segment = segments.find(({ type }) => type === PT.interpreter);
  return segment === undefined ? null : { path: readText(fd, segment.offset), offset: segment.offset, size: segment.size };
}

/** Where in the file an address of the loaded program stands. */
function offsetOf(segments: readonly Segment[], address: bigint): number {
  const wanted = number(address);
  const around = segments.find((each) => each.type === PT.load && wanted >= each.address && wanted < each.address + each.size);
  return around === undefined ? 0 : around.offset + wanted - around.address;
}

function readText(fd: number, offset: number): string {
  const bytes = read(fd, offset, MOST_TEXT);
  const end = bytes.indexOf(0);
  if (end === -1) throw new ElfError("has a name without an end");
  return bytes.toString("utf8", 0, end);
}

function whole(fd: number, offset: number, length: number): Buffer {
  const bytes = read(fd, offset, length);
  if (bytes.length < length) throw new ElfError("is cut off");
  return bytes;
}

function read(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, offset));
}

function number(value: bigint): number {
  if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) throw new ElfError("has an offset beyond its end");
  return Number(value);
}
