// A consistent copy of a SQLite database that another process has open.
import type * as NodeSqlite from "node:sqlite";

/** How long a lock held by the CLI is waited for. */
const BUSY_MS = 5_000;

/** null where the runtime has no SQLite. The database is read in one go, from one state of it, and not written to. */
export function databaseCopier(): ((from: string, to: string) => Promise<void>) | null {
  const sqlite = loadSqlite();
  if (!sqlite?.backup) return null;
  return async (from, to) => {
    const database = new sqlite.DatabaseSync(from, { readOnly: true, timeout: BUSY_MS });
    try {
      // In steps, a database that is written to would be begun anew at every step.
      await sqlite.backup(database, to, { rate: 2 ** 31 - 1 });
    } finally {
      database.close();
    }
  };
}

/** Older versions of Node have none. */
function loadSqlite(): typeof NodeSqlite | null {
  try {
    return process.getBuiltinModule?.("node:sqlite") ?? null;
  } catch {
    return null;
  }
}
