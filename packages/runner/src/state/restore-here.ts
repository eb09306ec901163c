// Restores in the runner itself what is small and whole, as almost every state is: a process for it would take longer than the work.
import { constants } from "node:fs";
import { join } from "node:path";
import { canEndAnyway, closeFile, makeFolder, namesOf, openFile, readSome, statFile, touch } from "../file-calls.ts";
import { type FileTask, startTask, taskHere } from "../file-task.ts";
import { orNull, SAFELY } from "../files.ts";
import { inMemory } from "./archive-blocks.ts";
import { type Candidates, candidatesOf, POINTER, POINTER_BYTES, POINTER_FLAGS, parsePointer } from "./generations.ts";
import { type RestoreAnswer, type RestoreCommand, restoreState, type SavedFolder } from "./restore-state.ts";

/** A larger state is unpacked by a process, for the runner answers nobody meanwhile. */
const LARGEST = 4 * 1024 * 1024;
/** Small enough that a slow volume is seen to move. */
const CHUNK = 128 * 1024;

/** What a restore needs of the volume. */
interface Fetched {
  readonly candidates: Candidates;
  /** The best candidate's archive; null where there is none. */
  readonly archive: Buffer | null;
}

/** Whatever is out of the ordinary is left to the process, which begins anew and names it. */
export function startRestore(runnerFile: string, command: RestoreCommand): FileTask<RestoreAnswer> {
  if (!canEndAnyway()) return startTask(runnerFile, command);
  let process: FileTask<RestoreAnswer> | null = null;
  const here = taskHere(async (isAbandoned, onRead) => {
    const fetched = await fetch(command.saved, onRead).catch(() => null);
    if (isAbandoned()) throw new Error("given up");
    const restored = fetched && orNull(() => restoreState(command, () => {}, inFetched(command.saved, fetched)));
    if (restored) return restored;
    process = startTask<RestoreAnswer>(runnerFile, command);
    return process.answer;
  });
  const abandon = (): void => {
    here.abandon();
    process?.abandon();
  };
  return { answer: here.answer, progress: () => (process ?? here).progress(), abandon };
}

async function fetch(saved: string, onRead: (bytes: number) => void): Promise<Fetched | null> {
  await makeFolder(saved, 0o770);
  const pointer = await readFile(join(saved, POINTER), POINTER_FLAGS, POINTER_BYTES, onRead);
  if (pointer === null) return null;
  const candidates = candidatesOf(parsePointer(pointer.toString()), await namesOf(saved));
  const [best] = candidates.names;
  if (best === undefined) return { candidates, archive: null };
  const archive = await readFile(join(saved, best), constants.O_RDONLY | SAFELY, LARGEST, onRead);
  return archive && { candidates, archive };
}

/** null when it is no plain file, or a larger one. */
async function readFile(path: string, flags: number, most: number, onRead: (bytes: number) => void): Promise<Buffer | null> {
  const fd = await openFile(path, flags, 0o660);
  try {
    const stats = await statFile(fd);
    if (!stats.isFile() || stats.size > most) return null;
    const bytes = Buffer.alloc(stats.size);
    for (let done = 0; done < bytes.length; ) {
      const count = await readSome(fd, bytes, done, Math.min(CHUNK, bytes.length - done), done);
      if (count === 0) return null;
      done += count;
      onRead(count);
    }
    return bytes;
  } finally {
    await closeFile(fd);
  }
}

function inFetched(saved: string, { candidates, archive }: Fetched): SavedFolder {
  return {
    candidates: () => candidates,
    open: (generation) => {
      if (archive === null || generation !== candidates.names[0]) throw new Error("not fetched");
      return { source: inMemory(archive), close: () => {} };
    },
    // What cannot be written to cannot be collected as an old one either.
    markUsed: () => void touch(join(saved, POINTER), new Date()).catch(() => {}),
  };
}
