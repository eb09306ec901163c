import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rmdir, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type At, inFolder, removeTree } from "@paperclip-k8s/engine";
import { BoundedFiles } from "../prompt/bounded-files.ts";
import { hasContent } from "./same-content.ts";
import type { BundleFile } from "./skill-files.ts";

const PATIENCE_MS = 30_000;
/** Begins the names of folders that are being written or removed. */
export const UNFINISHED = ".part-";
/** Of copies that had to be made beside a spoilt one, the newest few are looked at. */
const MOST_COPIES = 4;

export interface BundlePlace {
  /** Mount point of the shared volume. */
  readonly root: string;
  /** Holds the bundles of one company. */
  readonly folder: string;
  readonly key: string;
}

/** The volume did not take a bundle; it may the next time. */
export class BundleError extends Error {
  override readonly name = "BundleError";
}

/** A bundle that is to be in a folder. */
interface Wanted {
  readonly at: At;
  readonly key: string;
  readonly content: readonly BundleFile[];
  readonly usedUntil: number;
}

/**
 * Finds the bundle as it has to be, or puts it in its place in one step, so that another server that writes the same one meanwhile does
 * no harm; returns its folder. A root that is not there is a volume that is not mounted: nothing is made in its place.
 */
export async function writeBundle(place: BundlePlace, content: readonly BundleFile[], usedUntil: number): Promise<string> {
  const { root, folder, key } = place;
  const put = async (at: At): Promise<string> => {
    const wanted = { at, key, content, usedUntil };
    return (await find(wanted)) ?? (await build(wanted));
  };
  try {
    const files = new BoundedFiles({ shared: null, timeoutMs: PATIENCE_MS });
    return join(folder, await files.within(() => inFolder(root, folder, put, openToAll)));
  } catch (error) {
    throw new BundleError(`skills and instructions cannot be written to ${folder}: ${(error as Error).message}`, { cause: error });
  }
}

/** Under its own name, or one that it was given because something else stands there. */
async function find(wanted: Wanted): Promise<string | null> {
  if (await isUsable(wanted, wanted.key)) return wanted.key;
  const copies = (await readdir(wanted.at())).filter((name) => name.startsWith(`${wanted.key}-`)).sort();
  for (const name of copies.slice(-MOST_COPIES).reverse()) if (await isUsable(wanted, name)) return name;
  return null;
}

/** Pods of other agents can change it, and a server of another user may have made it: then it is as good as none. */
function isUsable({ at, content, usedUntil }: Wanted, name: string): Promise<boolean> {
  const look = async (inside: At) => (await hasContent(inside, content)) && (await markUsed(inside, usedUntil));
  return inFolder(at(), at(name), look).catch(() => false);
}

/** Its time of change says until when a run may need it; never taken back. */
async function markUsed(at: At, until: number): Promise<true> {
  const { mtimeMs } = await stat(at());
  if (mtimeMs < until) await utimes(at(), new Date(), new Date(until)).catch(() => touch(at));
  return true;
}

/** Only its owner may set a folder's time; who may write in it can make it the present one. */
async function touch(at: At): Promise<void> {
  const passing = at(`${UNFINISHED}${randomUUID()}`);
  await mkdir(passing);
  await rmdir(passing);
}

async function build(wanted: Wanted): Promise<string> {
  const { at, key, content, usedUntil } = wanted;
  const part = `${UNFINISHED}${randomUUID()}`;
  try {
    for (const file of content) await write(at, join(part, file.path), file);
    await inFolder(at(), at(part), (inside) => markUsed(inside, usedUntil));
    return (await moved(at, part, key)) ? key : (await isUsable(wanted, key)) ? key : await copied(at, part, key);
  } finally {
    await removeTree(at(), part).catch(() => {});
  }
}

function write(at: At, path: string, { bytes, executable }: BundleFile): Promise<void> {
  const put = async (inside: At): Promise<void> => {
    const file = await open(inside(basename(path)), "wx");
    try {
      await file.writeFile(bytes);
      // Any user of a pod may read it, nobody may change it.
      await file.chmod(executable ? 0o555 : 0o444);
    } finally {
      await file.close();
    }
  };
  return inFolder(at(), at(dirname(path)), put, openToAll);
}

/** Whatever the server's own umask is, the pod's user may come in. */
const openToAll = (folder: FileHandle): Promise<void> => folder.chmod(0o755);

/** False = something has that name. */
function moved(at: At, part: string, name: string): Promise<boolean> {
  return rename(at(part), at(name)).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOTEMPTY" || error.code === "EEXIST" || error.code === "ENOTDIR") return false;
      throw error;
    },
  );
}

async function copied(at: At, part: string, key: string): Promise<string> {
  const name = `${key}-${Date.now()}-${randomUUID().slice(0, 8)}`;
  await rename(at(part), at(name));
  return name;
}
