// A consistent copy of a SQLite database that another process has open.
import type * as NodeSqlite from "node:sqlite";

/** How long a lock held by the CLI is waited for. */
const BUSY_MS = 5_000;

interface BunDatabase {
  exec(sql: string): void;
  close(): void;
}
type BunSqlite = { readonly Database: new (file: string, options: { readonly: boolean }) => BunDatabase };

/** null where the runtime has no SQLite. Both ways read the database in one go, from one state of it, and write nothing to it. */
export function databaseCopier(): ((from: string, to: string) => Promise<void>) | null {
  const bun = builtin<BunSqlite>("bun:sqlite");
  if (bun) {
    return async (from, to) => {
      const database = new bun.Database(from, { readonly: true });
      try {
        database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
        database.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`);
      } finally {
        database.close();
      }
    };
  }
  const node = builtin<typeof NodeSqlite>("node:sqlite");
  if (!node?.backup) return null;
  return async (from, to) => {
    const database = new node.DatabaseSync(from, { readOnly: true, timeout: BUSY_MS });
    try {
      // In steps, a database that is written to would be begun anew at every step.
      await node.backup(database, to, { rate: 2 ** 31 - 1 });
    } finally {
      database.close();
    }
  };
}

/** Bundlers leave such a name alone, and a runtime without it says so quietly. */
function builtin<T>(name: string): T | null {
  try {
    return (process.getBuiltinModule?.(name) as T | undefined) ?? null;
  } catch {
    return null;
  }
}
