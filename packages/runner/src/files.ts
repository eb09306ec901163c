// File calls that may fail in ways the runner expects.
import { readFileSync, writeSync } from "node:fs";

/** Not a fault: what was opened is a pipe or a device, or the file system has no such call. */
const NO_FLUSH = ["EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"];

export function writeAll(fd: number, bytes: Buffer, onWritten: (count: number) => void = () => {}): void {
  for (let offset = 0; offset < bytes.length; ) {
    const count = writeSync(fd, bytes, offset, bytes.length - offset);
    offset += count;
    onWritten(count);
  }
}

export function flush(sync: (fd: number) => void, fd: number, tolerated: readonly string[] = []): true {
  orNull(() => sync(fd), [...NO_FLUSH, ...tolerated]);
  return true;
}

/** null when the work fails with one of these codes; without codes, however it fails. */
export function orNull<T>(work: () => T, codes?: readonly string[]): T | null {
  try {
    return work();
  } catch (error) {
    if (codes && !codes.includes(codeOf(error))) throw error;
    return null;
  }
}

export const readOrNull = (file: string): string | null => orNull(() => readFileSync(file, "utf8"));

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | null)?.code ?? "";
