import { type FileHandle, open, readdir, stat } from "node:fs/promises";

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;

export interface BoundedFilesOptions {
  readonly maxBytes?: number;
  /** For all that is read through one of these together. */
  readonly timeoutMs?: number;
}

/** Reads the files of a turn one after the other: a volume that hangs holds one thread of the host's pool, not one per file. */
export class BoundedFiles {
  readonly #maxBytes: number;
  readonly #timeoutMs: number;
  #left: number;

  constructor(options: BoundedFilesOptions = {}) {
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#left = this.#timeoutMs;
  }

  /** The text of a file. Throws an error whose message says in a few words why it cannot be had. */
  async read(path: string): Promise<string> {
    const bytes = await this.readBytes(path);
    return bytes.toString("utf8").replace(/^\uFEFF/, "");
  }

  readBytes(path: string): Promise<Buffer> {
    return this.within(() => readWhole(path, this.#maxBytes));
  }

  /** Names in a folder, sorted; throws as `read` does. */
  list(path: string): Promise<string[]> {
    return this.within(async () => (await readdir(path)).sort());
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
    } catch (error) {
      throw new Error(reasonOf(error), { cause: error });
    } finally {
      clearTimeout(timer);
      this.#left -= performance.now() - begun;
    }
  }
}

async function readWhole(path: string, maxBytes: number): Promise<Buffer> {
  // Opening a pipe waits for its writer, so the kind is asked first.
  if (!(await stat(path)).isFile()) throw new Error("not a file");
  const handle = await open(path, "r");
  try {
    return await readBounded(handle, maxBytes);
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

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT" || code === "ENOTDIR") return "no such file";
  if (code === "EACCES" || code === "EPERM") return "not readable for the server";
  if (typeof code === "string") return code;
  return error instanceof Error ? error.message : String(error);
}
