import { mkdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import type { ImportAnswer, ImportCommand, ImportProgress, ImportSource, RowImport } from "../protocol.ts";
import { addState, hasState } from "./add-state.ts";
import { type Budget, copyFile, copyIfThere, copyTree } from "./copy-files.ts";
import { copyRows, openCopy } from "./copy-rows.ts";
import { answerOf, ImportFault } from "./fault.ts";
import { findPlaces, type Place } from "./find-places.ts";

type Report = (progress: ImportProgress) => void;

/** What was copied into the new home. */
interface Taken {
  readonly from: string;
  readonly mtimeMs: number;
  readonly files: number;
  readonly rows: number;
}

/** The first place that has the session becomes the task's first state. One that cannot be read does not hide another. */
export async function importState(command: ImportCommand, report: Report): Promise<ImportAnswer> {
  if (await hasState(command)) return { kind: "saved-already" };
  const faults: ImportAnswer[] = [];
  for (const [index, look] of (await lookups(command, faults)).entries()) {
    const home = join(command.temp, `home-${index}`);
    const taken = await look({ home, copy: join(command.temp, `copy-${index}`), report }).catch((error) => {
      faults.push(answerOf(error));
      return null;
    });
    if (taken === null) continue;
    report({ step: "volume", bytes: 0 });
    const { bytes } = await addState(home, new Date(taken.mtimeMs), command, (written) => report({ step: "volume", bytes: written }));
    return { kind: "imported", from: taken.from, bytes, files: taken.files, rows: taken.rows };
  }
  // What may pass or can be changed counts before what is final.
  const fault = ["stalled", "blocked", "unfit"].map((kind) => faults.find((each) => each.kind === kind)).find((each) => each !== undefined);
  return fault ?? { kind: "not-found", places: command.sources.map(({ path }) => path) };
}

interface Work {
  /** What the state is made of. */
  readonly home: string;
  /** Folder for a database that is only read. */
  readonly copy: string;
  readonly report: Report;
}

type Lookup = (work: Work) => Promise<Taken | null>;

/** Each place that is there, in the order of the sources. */
async function lookups(command: ImportCommand, faults: ImportAnswer[]): Promise<Lookup[]> {
  const found: Lookup[] = [];
  for (const source of command.sources) {
    const first = source.kind === "files" ? source.first : [];
    const places = await findPlaces(command.root, source.path, first).catch((error) => {
      faults.push(answerOf(error));
      return [];
    });
    for (const place of places.slice(0, MOST_PLACES))
      found.push((work) => (source.kind === "files" ? takeFiles(source, place, command, work) : takeRows(source, place, command, work)));
  }
  return found;
}

/** Of one source: a database is copied as a whole before it can be read. */
const MOST_PLACES = 20;

async function takeFiles(
  { beside = [], to }: Extract<ImportSource, { kind: "files" }>,
  { path, mtimeMs }: Place,
  { root, maxBytes }: ImportCommand,
  { home, report }: Work,
): Promise<Taken> {
  const budget = budgetOf(maxBytes, report);
  await copyFile(root, path, join(home, to, basename(path)), budget);
  for (const name of beside) await copyTree(root, join(dirname(path), name), join(home, to, name), budget);
  return { from: path, mtimeMs, files: budget.files, rows: 0 };
}

async function takeRows(source: RowImport, { path, mtimeMs }: Place, command: ImportCommand, work: Work): Promise<Taken | null> {
  const sqlite = process.getBuiltinModule?.("node:sqlite");
  if (sqlite?.DatabaseSync === undefined)
    throw new ImportFault(
      "blocked",
      `${path} is a SQLite database, which this server's Node ${process.versions.node} cannot read: run the server on Node 24`,
    );
  const { root, maxBytes, maxDatabaseBytes } = command;
  const { home, copy, report } = work;
  const budget = budgetOf(maxDatabaseBytes, report);
  const file = join(copy, "database");
  await copyFile(root, path, file, budget);
  // Its log has what was written last. A rollback journal is not taken: SQLite would remove a file that the journal names.
  await copyIfThere(root, `${path}-wal`, `${file}-wal`, budget);
  if (statSync(file).size === 0) return null;
  let read = 0;
  const onBytes = (more: number): void => {
    read += more;
    report({ step: "copies", bytes: read });
  };
  onBytes(0);
  const rows = inDatabases(sqlite, file, join(home, source.to), path, (from, to) => copyRows(from, to, source, { maxBytes, onBytes }));
  rmSync(copy, { recursive: true, force: true });
  return rows === null ? null : { from: path, mtimeMs, files: 1, rows };
}

type Database = import("node:sqlite").DatabaseSync;

/** An error of SQLite's is one of the database. */
function inDatabases<T>(
  sqlite: typeof import("node:sqlite"),
  file: string,
  to: string,
  name: string,
  work: (from: Database, to: Database) => T,
): T {
  const opened: Database[] = [];
  try {
    const from = openCopy(sqlite, file);
    opened.push(from);
    const target = newDatabase(sqlite, to);
    opened.push(target);
    return work(from, target);
  } catch (error) {
    const { code, message, errcode } = error as Error & { code?: string; errcode?: number };
    if (error instanceof ImportFault) throw new ImportFault(error.kind, `${name}: ${message}`);
    if (errcode === SQLITE_FULL) throw new ImportFault("blocked", `${name}: no room for a copy in the server's temporary folder`);
    throw code === "ERR_SQLITE_ERROR" ? new ImportFault("unfit", `${name}: ${message}`) : error;
  } finally {
    for (const db of opened) db.close();
  }
}

const SQLITE_FULL = 13;

/** Written once and then copied: it needs no journal. */
function newDatabase(sqlite: typeof import("node:sqlite"), file: string): Database {
  mkdirSync(dirname(file), { recursive: true });
  const db = new sqlite.DatabaseSync(file, { enableForeignKeyConstraints: false });
  for (const pragma of ["journal_mode=OFF", "synchronous=OFF", "temp_store=MEMORY"]) db.exec(`PRAGMA ${pragma}`);
  return db;
}

function budgetOf(maxBytes: number, report: Report): Budget {
  const budget: Budget = { maxBytes, bytes: 0, files: 0, onBytes: () => report({ step: "volume", bytes: budget.bytes }) };
  return budget;
}
