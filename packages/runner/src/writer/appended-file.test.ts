import { createHash } from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AppendedFile, type NoRoom } from "./appended-file.ts";

// A volume that runs full in the middle of a write, or finds out only when it flushes and drops what it had taken.

/** What becomes of a write: it fails, or takes at most so many bytes. */
type WriteFault = { readonly fails: string } | { readonly takes: number };
/** A flush that fails leaves this of what it had not confirmed: all of it, zeros in the place of the first bytes, or nothing from there on. */
interface FlushFault {
  readonly fails: string;
  readonly drops: "nothing" | "to zeros" | "to the end";
  readonly after: number;
}

/** The calls on one file, each with the next fault; null and none left = it works. */
interface Volume {
  readonly fd: number;
  readonly path: string;
  readonly writes: Array<WriteFault | null>;
  readonly flushes: Array<FlushFault | null>;
  /** What the volume has confirmed. */
  durable: number;
}

const { write, fdatasync } = fs;
const failed = (code: string): Error => Object.assign(new Error(`${code}: made by the test`), { code });
let volume: Volume | null = null;
let folder = "";

type Done = (error: Error | null, count?: number) => void;

function writeFaulty(fd: number, bytes: Buffer, offset: number, length: number, position: number | null, done: Done): void {
  const fault = volume?.fd === fd ? (volume.writes.shift() ?? null) : null;
  if (fault !== null && "fails" in fault) done(failed(fault.fails));
  else write(fd, bytes, offset, fault === null ? length : Math.min(length, fault.takes), position, done);
}

function flushFaulty(fd: number, done: Done): void {
  const own = volume?.fd === fd ? volume : null;
  const fault = own?.flushes.shift() ?? null;
  if (own === null || fault === null) {
    fdatasync(fd, (error) => {
      if (own !== null) own.durable = fs.fstatSync(fd).size;
      done(error);
    });
    return;
  }
  drop(own, fault);
  done(failed(fault.fails));
}

/** As a file system does that looks for room only when it writes back. */
function drop({ path, fd, durable }: Volume, { drops, after }: FlushFault): void {
  const from = Math.min(fs.fstatSync(fd).size, durable + after);
  const lost = fs.fstatSync(fd).size - from;
  if (drops === "nothing" || lost === 0) return;
  const other = fs.openSync(path, "r+");
  if (drops === "to the end") fs.ftruncateSync(other, from);
  else fs.writeSync(other, Buffer.alloc(Math.min(lost, 5)), 0, Math.min(lost, 5), from);
  fs.closeSync(other);
}

beforeAll(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "appended-file-"));
  Object.assign(fs, { write: writeFaulty, fdatasync: flushFaulty });
  syncBuiltinESMExports();
});
afterAll(() => {
  Object.assign(fs, { write, fdatasync });
  syncBuiltinESMExports();
  fs.rmSync(folder, { recursive: true });
});

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

interface Opened {
  readonly file: AppendedFile;
  readonly volume: Volume;
  /** What the file has beyond what was in it before. */
  readonly added: () => Buffer;
}

/** A file on such a volume, with something in it. */
async function withFile(
  before: string,
  faults: Pick<Volume, "writes" | "flushes">,
  noRoom: NoRoom,
  work: (opened: Opened) => Promise<void>,
): Promise<void> {
  const path = join(folder, "output");
  fs.writeFileSync(path, before);
  const fd = fs.openSync(path, "a");
  const own: Volume = { fd, path, writes: [...faults.writes], flushes: [...faults.flushes], durable: before.length };
  volume = own;
  const file = new AppendedFile(fd, true, noRoom);
  const added = (): Buffer => {
    const bytes = fs.readFileSync(path);
    expect(bytes.subarray(0, before.length).toString()).toBe(before);
    return bytes.subarray(before.length);
  };
  try {
    await work({ file, volume: own, added });
  } finally {
    volume = null;
    await file.close();
  }
}

function expectConfirmed({ file, added }: Opened, all: Buffer): void {
  expect(added().equals(all)).toBe(true);
  expect([file.written, file.flushed, file.flushedSha256]).toEqual([all.length, all.length, sha256(all)]);
}

const full = fc.constantFrom("ENOSPC", "EDQUOT");
const writeFault = fc.option(fc.oneof(fc.record({ fails: full }), fc.record({ takes: fc.integer({ min: 1, max: 60 }) })));
const flushFault = fc.option(
  fc.record({ fails: full, drops: fc.constantFrom("nothing", "to zeros", "to the end"), after: fc.nat({ max: 100 }) }),
);
const faults = fc.record({ writes: fc.array(writeFault, { maxLength: 40 }), flushes: fc.array(flushFault, { maxLength: 20 }) });
/** Sizes of what is appended; null = a flush. */
const steps = fc.array(fc.option(fc.nat({ max: 60 }), { freq: 2 }), { maxLength: 25 });
const before = fc.constantFrom("", "before\n");
/** No two pieces are alike. */
const piece = (index: number, size: number): Buffer => Buffer.from(`${index}-${"x".repeat(size)}\n`);

test("whatever a volume refuses or drops for want of room, the file has everything once and in order after a flush", async () => {
  const property = fc.asyncProperty(before, faults, steps, async (begin, given, todo) => {
    let asked = 0;
    const noRoom = async (): Promise<void> => {
      asked++;
    };
    await withFile(begin, given, noRoom, async (opened) => {
      let all = Buffer.alloc(0);
      for (const [index, size] of todo.entries()) {
        if (size === null) {
          await opened.file.flush();
          expectConfirmed(opened, all);
          continue;
        }
        all = Buffer.concat([all, piece(index, size)]);
        await opened.file.append(piece(index, size));
        expect(opened.file.written).toBe(all.length);
        expect(opened.file.flushedSha256).toBe(sha256(all.subarray(0, opened.file.flushed)));
      }
      await opened.file.flush();
      expectConfirmed(opened, all);
      const gone = (list: readonly object[], left: readonly object[]): readonly object[] => list.slice(0, list.length - left.length);
      const met = [
        ...gone(given.writes as object[], opened.volume.writes as object[]),
        ...gone(given.flushes as object[], opened.volume.flushes as object[]),
      ];
      expect(asked).toBe(met.filter((fault) => fault !== null && "fails" in fault).length);
    });
  });
  await fc.assert(property, { numRuns: process.env.LONG ? 3000 : 200 });
});

test("what is kept for another try has a limit: beyond it the volume has to confirm", async () => {
  const MIB = 1024 * 1024;
  const flushes = [{ fails: "ENOSPC", drops: "to zeros", after: MIB }, null] as const;
  await withFile(
    "before\n",
    { writes: [], flushes: [...flushes] },
    async () => {},
    async (opened) => {
      const pieces = Array.from({ length: 5 }, (_, index) => Buffer.alloc(MIB, `${index}`));
      for (const bytes of pieces.slice(0, 4)) await opened.file.append(bytes);
      expect([opened.file.written, opened.file.flushed]).toEqual([4 * MIB, 0]);
      await opened.file.append(pieces[4]!);
      expect(opened.volume.flushes).toEqual([]);
      expectConfirmed(opened, Buffer.concat(pieces));
    },
  );
});

const gaveUp = new Error("nobody waits any more");

test("nobody waits for room any more: what was written before is kept as far as the volume confirms it", async () => {
  const property = fc.asyncProperty(before, fc.boolean(), fc.nat({ max: 5 }), fc.boolean(), async (begin, isFlushed, waits, isLost) => {
    let asked = 0;
    const noRoom = async (): Promise<void> => {
      if (asked++ === waits) throw gaveUp;
    };
    const fails = { fails: "ENOSPC" };
    const drops = { fails: "ENOSPC", drops: "to the end", after: 0 } as const;
    const writes = [null, { takes: 2 }, ...Array.from({ length: waits + 1 }, () => fails)];
    const flushes = [...(isFlushed ? [null] : []), ...(isLost ? [drops] : [])];
    await withFile(begin, { writes, flushes }, noRoom, async ({ file, added }) => {
      await file.append(Buffer.from("one\n"));
      if (isFlushed) await file.flush();
      await expect(file.append(Buffer.from("two\n"))).rejects.toBe(gaveUp);
      expect(asked).toBe(waits + 1);
      await file.keepPrefix();
      const kept = isLost ? (isFlushed ? "one\n" : "") : "one\ntw";
      expect(added().toString()).toBe(kept);
      expect([file.written, file.flushed, file.flushedSha256]).toEqual([kept.length, kept.length, sha256(Buffer.from(kept))]);
    });
  });
  await fc.assert(property, { numRuns: 40 });
});

test("nobody waits for a flush any more: what was confirmed before it stays so, and nothing else", async () => {
  const flushes = [null, { fails: "EDQUOT", drops: "to zeros", after: 0 }] as const;
  const noRoom = (): Promise<void> => Promise.reject(gaveUp);
  await withFile("before\n", { writes: [], flushes: [...flushes] }, noRoom, async ({ file }) => {
    await file.append(Buffer.from("one\n"));
    await file.flush();
    await file.append(Buffer.from("two\n"));
    await expect(file.flush()).rejects.toBe(gaveUp);
    expect([file.flushed, file.flushedSha256]).toEqual([4, sha256(Buffer.from("one\n"))]);
  });
});

test.each(["write", "flush"] as const)("a %s that fails for another reason is not tried again", async (which) => {
  const fault = { fails: "EIO", drops: "nothing", after: 0 } as const;
  const noRoom = (): Promise<void> => Promise.reject(gaveUp);
  const given = which === "write" ? { writes: [fault], flushes: [] } : { writes: [], flushes: [fault] };
  await withFile("", given, noRoom, async ({ file }) => {
    const both = async (): Promise<void> => {
      await file.append(Buffer.from("one\n"));
      await file.flush();
    };
    await expect(both()).rejects.toMatchObject({ code: "EIO" });
    expect(file.flushed).toBe(0);
  });
});

test("what a flush has lost is not confirmed by the next one, which no longer reports it", async () => {
  const lost = { fails: "EIO", drops: "to zeros", after: 0 } as const;
  await withFile(
    "",
    { writes: [], flushes: [null, lost] },
    async () => {},
    async ({ file }) => {
      await file.append(Buffer.from("one\n"));
      await file.flush();
      // More than is kept for another try, so that it is flushed.
      await expect(file.append(Buffer.alloc(5 * 1024 * 1024, "x"))).rejects.toMatchObject({ code: "EIO" });
      await file.keepPrefix();
      expect([file.written, file.flushed, file.flushedSha256]).toEqual([4, 4, sha256(Buffer.from("one\n"))]);
    },
  );
});
