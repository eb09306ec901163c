// File calls that the writer and the saved state have in common.
import { writeSync } from "node:fs";

/** Not a fault: what was opened is a pipe or a device, or the file system has no such call. */
const NO_FLUSH = new Set(["EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

export function writeAll(fd: number, bytes: Buffer, onWritten: (count: number) => void = () => {}): void {
  for (let offset = 0; offset < bytes.length; ) {
    const count = writeSync(fd, bytes, offset, bytes.length - offset);
    offset += count;
    onWritten(count);
  }
}

export function flush(sync: (fd: number) => void, fd: number, tolerated: readonly string[] = []): void {
  try {
    sync(fd);
  } catch (error) {
    if (!NO_FLUSH.has(codeOf(error)) && !tolerated.includes(codeOf(error))) throw error;
  }
}

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | null)?.code ?? "";
