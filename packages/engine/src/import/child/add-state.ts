import { randomUUID } from "node:crypto";
import { closeSync, fchownSync, fdatasyncSync, openSync, renameSync, statSync, unlinkSync } from "node:fs";
import { FIRST_GENERATION, isGeneration, listState, writeArchive } from "@paperclip-k8s/runner/saved-state";
import { entriesOf } from "../../volume/child/entries.ts";
import { type At, inFolder, orNull } from "../../volume/child/in-folder.ts";
import type { ImportCommand } from "../protocol.ts";
import { ImportFault } from "./fault.ts";

type StatePlace = Pick<ImportCommand, "root" | "saved" | "parts" | "key" | "run" | "owner" | "maxBytes">;

/** What there is: a save of some run, no more than an import, or nothing. */
export function savedThere({ root, saved }: Pick<ImportCommand, "root" | "saved">): Promise<"save" | "import" | "nothing"> {
  return inFolder(root, saved, (at) => {
    let isImported = false;
    for (const { name } of entriesOf(at())) {
      if (name === FIRST_GENERATION) isImported = true;
      else if (isGeneration(name)) return "save";
    }
    // A pointer that names something is a state that cannot be read at the moment.
    if ((orNull(() => statSync(at("current")).size, ["ENOENT"]) ?? 0) > 0) return "save";
    return isImported ? "import" : "nothing";
  });
}

/**
 * Saves what was copied, signed as a run's own state is. It gets its name when all of it is on the volume. The name is the same for every
 * import and never that of a save, so that two imports at once do no harm, and one that comes late replaces no save.
 */
export function addState(
  home: string,
  main: string,
  at: Date,
  place: StatePlace,
  onWritten: (bytes: number) => void,
): Promise<{ readonly bytes: number }> {
  const { root, saved, parts, key, run, owner, maxBytes } = place;
  const { entries, bytes } = listState(home, parts);
  // Without it the archive would say, signed, that the session is empty.
  if (!entries.some(({ path }) => path === main)) throw new ImportFault("stalled", `the copy of ${main} is not there any more`);
  if (bytes > maxBytes) throw new ImportFault("unfit", `the session has ${bytes} bytes, ${maxBytes} are allowed`);
  return inFolder(root, saved, (folder) => {
    writeWhole(folder, (fd) => {
      writeArchive(fd, entries, { run, at: at.toISOString(), version: null }, key, flushedNowAndThen(fd, onWritten));
      if (owner !== null) fchownSync(fd, owner.uid, owner.gid);
    });
    return { bytes };
  });
}

/** A slow volume is seen to move. */
const FLUSH_BYTES = 32 * 1024 * 1024;

function flushedNowAndThen(fd: number, onWritten: (bytes: number) => void): (count: number) => void {
  let [written, flushed] = [0, 0];
  return (count) => {
    written += count;
    if (written - flushed > FLUSH_BYTES) {
      fdatasyncSync(fd);
      flushed = written;
    }
    onWritten(written);
  };
}

/** The runner removes such a part where a server died before it was complete. */
function writeWhole(at: At, write: (fd: number) => void): void {
  const part = at(`${FIRST_GENERATION}-${randomUUID()}.part`);
  const fd = openSync(part, "wx", 0o660);
  let open = true;
  try {
    write(fd);
    fdatasyncSync(fd);
    open = false;
    closeSync(fd);
    renameSync(part, at(FIRST_GENERATION));
  } catch (error) {
    if (open) closeSync(fd);
    orNull(() => unlinkSync(part), ["ENOENT"]);
    throw error;
  }
}
