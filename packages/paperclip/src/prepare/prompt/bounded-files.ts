import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type At, inFolder } from "@paperclip-k8s/engine";
import { type Located, locate } from "./locate.ts";

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;
/** Links were followed before; opening a pipe must not wait for its writer. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface BoundedFilesOptions {
  /** Mount point of the volume that pods write on; null = none of the files is there. */
  readonly shared: string | null;
  readonly maxBytes?: number;
  /** For all that is read through one of these together. */
  readonly timeoutMs?: number;
}

/** Reads the files of a turn one after the other: a volume that hangs holds one thread of the host's pool, not one per file. */
export class BoundedFiles {
  readonly #shared: string | null;
  readonly #maxBytes: number;
  readonly #timeoutMs: number;
  #left: number;

  constructor(options: BoundedFilesOptions) {
    this.#shared = options.shared;
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#left = this.#timeoutMs;
  }

  /** The text of a file. Throws an error whose message says in a few words why it cannot be had. */
  async read(path: string): Promise<string> {
    const { bytes } = await this.readFile(path);
    return bytes.toString("utf8").replace(/^\uFEFF/, "");
  }

  readFile(path: string): Promise<ReadFile> {
    const read = (file: string) => readWhole(file, this.#maxBytes);
    return this.#reading(path, (located) =>
      located.root === null ? read(located.path) : inFolder(located.root, dirname(located.path), (at) => read(at(basename(located.path)))),
    );
  }

  /** Names in a folder, sorted; throws as `read` does. */
  list(path: string): Promise<string[]> {
    return this.inFolder(path, async (at) => (await readdir(at())).sort());
  }

  /** Reads in a folder; throws as `read` does. */
  inFolder<T>(path: string, work: (at: At, read: (file: string) => Promise<ReadFile>) => Promise<T>): Promise<T> {
    const read = (file: string) => readWhole(file, this.#maxBytes).catch(withReason);
    return this.#reading(path, (located) => inFolder(located.root ?? located.path, located.path, (at) => work(at, read)));
  }

  #reading<T>(path: string, work: (located: Located) => Promise<T>): Promise<T> {
    return this.within(async () => work(await locate(path, this.#shared))).catch(withReason);
  }

  /** Runs a piece of file work within the time that is left. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    const late = () => new Error(`no answer within ${this.#timeoutMs / 1000} s`);
    if (this.#left <= 0) throw late();
    const begun = performance.now();
    const { promise: expired, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(late()), this.#left);
    try {
      return await Promise.race([work(), expired]);
    } finally {
      clearTimeout(timer);
      this.#left -= performance.now() - begun;
    }
  }
}

export interface ReadFile {
  readonly bytes: Buffer;
  readonly mode: number;
}

async function readWhole(path: string, maxBytes: number): Promise<ReadFile> {
  const handle = await open(path, READ_FLAGS);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error("not a file");
    return { bytes: await readBounded(handle, maxBytes), mode: stats.mode };
  } finally {
    await handle.close();
  }
}

/** By what is read, not by the size told before: a file may grow meanwhile. */
async function readBounded(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of handle.createReadStream({ autoClose: false, end: maxBytes }) as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > maxBytes) throw new Error(`larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function withReason(error: unknown): never {
  throw new Error(reasonOf(error), { cause: error });
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT" || code === "ENOTDIR") return "no such file";
  if (code === "EACCES" || code === "EPERM") return "not readable for the server";
  if (code === "ENXIO") return "not a file";
  if (typeof code === "string" && code !== "ELOOP") return code;
  return error instanceof Error ? error.message : String(error);
}
