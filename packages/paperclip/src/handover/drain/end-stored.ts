import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { isBelow, recordOf, textOf } from "../../host/context-values.ts";
import type { ExecutionContext } from "../../host/types.ts";

// For each call with the token of a running run, Paperclip 2026.916 locks the issue and then the run in its database. Between the return of
// `execute` and the moment when the result is stored, it locks the run and then the issue. If the two meet, PostgreSQL cancels one of them: the
// host takes that for a failure of the adapter, what the run returned is lost, and the issue is held. So nothing is asked with the token until
// the result is stored, which can be seen on the host's own disk.

const LOOK_MS = 100;
/** A host that keeps the folder, for example because it cannot remove it, is asked after this long. */
const KEPT_MS = 20_000;
/** Where there is no such folder, the host is asked after this long: far more than it usually needs. */
const UNSEEN_MS = 5000;

/** The returned function resolves when the host has stored what the run returned. Call it before `execute` returns: it notes whether the folder exists. */
export function endStored(ctx: Pick<ExecutionContext, "context">): () => Promise<void> {
  const folder = scratchFolder(ctx);
  const wasThere = folder === null ? Promise.resolve(false) : isThere(folder);
  return async () => {
    if (folder === null || !(await wasThere)) return pause(UNSEEN_MS);
    for (const last = Date.now() + KEPT_MS; Date.now() < last && (await isThere(folder)); ) await pause(LOOK_MS);
  };
}

/** The host makes it in the server's temporary folder for each run, and removes it after the end is stored. Null = there is none. */
function scratchFolder({ context }: Pick<ExecutionContext, "context">): string | null {
  const folder = textOf(recordOf(context.paperclipScratch).dir);
  return folder !== null && isBelow(resolve(folder), tmpdir()) ? folder : null;
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

export const pause = (ms: number): Promise<void> => new Promise((done) => void setTimeout(done, Math.max(0, ms)));
