import { mkdirSync } from "node:fs";
import { dirname } from "node:path/posix";
import { openCopy } from "./copy-rows.ts";
import { ImportFault } from "./fault.ts";

type Sqlite = typeof import("node:sqlite");
type Database = import("node:sqlite").DatabaseSync;

/** Works with a database to read and a new one; `name` is that of the first, for messages. */
export function inDatabases<T>(sqlite: Sqlite, file: string, to: string, name: string, work: (from: Database, to: Database) => T): T {
  const opened: Database[] = [];
  try {
    const from = openCopy(sqlite, file);
    opened.push(from);
    const target = newDatabase(sqlite, to);
    opened.push(target);
    return work(from, target);
  } catch (error) {
    throw faultOf(error, name);
  } finally {
    for (const db of opened) db.close();
  }
}

const SQLITE_FULL = 13;
/** ERROR, CORRUPT, TOOBIG, CONSTRAINT, MISMATCH, NOTADB: what the database has in it. Any other may pass: of memory, of files, of locks. */
const FINAL = [1, 11, 18, 19, 20, 26];

/** An error of SQLite's is one of the database, or of the moment. */
export function faultOf(error: unknown, name: string): unknown {
  const { code, message, errcode = 0 } = error as Error & { code?: string; errcode?: number };
  if (error instanceof ImportFault) return new ImportFault(error.kind, `${name}: ${message}`);
  if (code !== "ERR_SQLITE_ERROR") return error;
  // The other bits say more about the same.
  const primary = errcode & 0xff;
  if (primary === SQLITE_FULL) return new ImportFault("blocked", `${name}: no room for a copy in the server's temporary folder`);
  return new ImportFault(FINAL.includes(primary) ? "unfit" : "stalled", `${name}: ${message}`);
}

/** Written once and then copied: it needs no journal. */
function newDatabase(sqlite: Sqlite, file: string): Database {
  mkdirSync(dirname(file), { recursive: true });
  const db = new sqlite.DatabaseSync(file, { enableForeignKeyConstraints: false });
  for (const pragma of ["journal_mode=OFF", "synchronous=OFF", "temp_store=MEMORY"]) db.exec(`PRAGMA ${pragma}`);
  return db;
}
