import { lstatSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path/posix";
import { inFolder, orNull } from "../../volume/child/in-folder.ts";
import { type Budget, copyFile, copyIfThere } from "./copy-files.ts";
import { ImportFault } from "./fault.ts";

const MOST_TRIES = 3;
const LOG = "-wal";

/** Copies a database and its log as they were at one time; returns what tells later whether they have changed. */
export async function copyStanding(root: string, path: string, to: string, budget: Budget): Promise<string> {
  const { bytes, files } = budget;
  for (let nth = 0; nth < MOST_TRIES; nth++) {
    const before = await stampOf(root, path);
    await copyFile(root, path, to, budget);
    // Its log has what was written last. A rollback journal is not taken: SQLite would remove a file that the journal names.
    await copyIfThere(root, `${path}${LOG}`, `${to}${LOG}`, budget);
    if ((await stampOf(root, path)) === before) return before;
    for (const copy of [to, `${to}${LOG}`]) rmSync(copy, { force: true });
    Object.assign(budget, { bytes, files });
  }
  throw new ImportFault("stalled", `${path} is written to: it has changed each time it was copied`);
}

/** Of the files as they are now. */
export function stampOf(root: string, path: string): Promise<string> {
  return inFolder(root, dirname(path), (at) => {
    const names = [basename(path), `${basename(path)}${LOG}`];
    const stats = names.map((name) => orNull(() => lstatSync(at(name), { bigint: true }), ["ENOENT"]));
    return stats.map((each) => (each === null ? "none" : `${each.ino}:${each.size}:${each.mtimeNs}`)).join(" ");
  });
}
