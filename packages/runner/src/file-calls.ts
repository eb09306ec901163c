// File calls on a volume that the runner makes beside its own work. They are counted: a process in which one of them hangs cannot end as usual.
import {
  close,
  type Dirent,
  fdatasync,
  fstat,
  ftruncate,
  lstat,
  lutimes,
  mkdir,
  open,
  read,
  readdir,
  realpath,
  type Stats,
  statfs,
  write,
} from "node:fs";

let underWay = 0;

type Done<R> = (error: NodeJS.ErrnoException | null, result?: R) => void;

function counted<R>(begin: (done: Done<R>) => void): Promise<R> {
  underWay++;
  return new Promise((resolve, reject) => {
    begin((error, result) => {
      underWay--;
      if (error) reject(error);
      else resolve(result as R);
    });
  });
}

export const openFile = (path: string, flags: string | number, mode: number): Promise<number> =>
  counted((done) => open(path, flags, mode, done));
export const closeFile = (fd: number): Promise<void> => counted((done) => close(fd, done));
/** The file ends at this length from now on. */
export const cutFile = (fd: number, length: number): Promise<void> => counted((done) => ftruncate(fd, length, done));
export const syncData = (fd: number): Promise<void> => counted((done) => fdatasync(fd, done));
export const statFile = (fd: number): Promise<Stats> => counted((done) => fstat(fd, done));
export const makeFolder = (path: string, mode: number): Promise<unknown> => counted((done) => mkdir(path, { recursive: true, mode }, done));
export const namesOf = (folder: string): Promise<string[]> => counted((done) => readdir(folder, done));
export const entriesOf = (folder: string): Promise<Dirent[]> => counted((done) => readdir(folder, { withFileTypes: true }, done));
/** All links on the way resolved. */
export const realPath = (path: string): Promise<string> => counted((done) => realpath.native(path, done));
export const statPath = (path: string): Promise<Stats> => counted((done) => lstat(path, done));
export const touch = (path: string, at: Date): Promise<void> => counted((done) => lutimes(path, at, at, done));
/** At `position`; null = where the last call ended. */
export const readSome = (fd: number, into: Buffer, offset: number, length: number, position: number | null): Promise<number> =>
  counted((done) => read(fd, into, offset, length, position, done));
/** Of ext4, XFS, Btrfs, tmpfs, overlay and ZFS: whoever opens a file there sees what others have written to it. */
const LOCAL_TYPES = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1];
/** Before 18.15 Node cannot say what a file system is. */
export const isLocal = (path: string): Promise<boolean> =>
  typeof statfs !== "function"
    ? Promise.resolve(false)
    : counted<{ readonly type: number }>((done) => statfs(path, done)).then(
        ({ type }) => LOCAL_TYPES.includes(type),
        () => false,
      );
const writeSome = (fd: number, bytes: Buffer, offset: number): Promise<number> =>
  counted((done) => write(fd, bytes, offset, bytes.length - offset, null, done));

export async function writeWhole(fd: number, bytes: Buffer, onWritten: (count: number) => void = () => {}): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const count = await writeSome(fd, bytes, offset);
    offset += count;
    onWritten(count);
  }
}

/** Without this a runner that makes such calls might never end, and they are left to processes of their own. */
export const canEndAnyway = (): boolean => typeof process.execve === "function";

/** `process.exit` waits for every thread. Another program in the place of this one does not: the system ends the threads that hang. */
export function endProcess(code: number): never {
  if (underWay === 0 || !canEndAnyway()) process.exit(code);
  // No variable of the pod's, which may name files on the volume that hangs; only where Node's own libraries are.
  const { LD_LIBRARY_PATH } = process.env;
  process.execve?.(process.execPath, [process.execPath, "-e", `process.exit(${code})`], LD_LIBRARY_PATH ? { LD_LIBRARY_PATH } : {});
  process.exit(code);
}
