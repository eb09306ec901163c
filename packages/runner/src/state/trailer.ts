// After the archive's end stands where its manifest is, so that nothing has to be read, let alone unpacked, before the manifest is checked.
import type { ArchiveSource } from "./archive-blocks.ts";
import { BLOCK } from "./tar-header.ts";

const WORD = "manifest-at";

/** A block of its own behind the zeros that end a tar file: other readers of the format do not see it. */
export function trailer(manifestAt: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(`${WORD} ${manifestAt}\n`);
  return block;
}

/** null: the archive has none, it is of an earlier version or torn. */
export function readTrailer({ size, read }: ArchiveSource): number | null {
  if (size < BLOCK) return null;
  const block = Buffer.alloc(BLOCK);
  const count = read(block, 0, BLOCK, size - BLOCK);
  const at = Number(new RegExp(`^${WORD} (\\d{1,15})\\n\\0*$`).exec(block.toString("latin1", 0, count))?.[1] ?? Number.NaN);
  return Number.isSafeInteger(at) && at % BLOCK === 0 && at < size ? at : null;
}
