// File calls that may fail in ways the runner expects.
import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from "node:fs";

/** Not a fault: what was opened is a pipe or a device, or the file system has no such call. */
export const NO_FLUSH: readonly string[] = ["EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"];

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

// Others may write where such files are: opening a link fails, and opening a pipe does not block.
export const SAFELY: number = constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** How opening a link, a folder, a socket or a device without a driver fails. */
export const NOT_PLAIN: readonly string[] = ["ELOOP", "EISDIR", "ENXIO", "ENODEV"];

/** A file, opened to be read; null when it is not there, or no plain file. */
export function openPlain(file: string): number | null {
  const fd = orNull(() => openSync(file, constants.O_RDONLY | SAFELY), ["ENOENT", ...NOT_PLAIN]);
  if (fd === null || fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return null;
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
