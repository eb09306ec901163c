import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import type { ImportAnswer, ImportCommand, ImportProgress, ImportSource, RowImport } from "../protocol.ts";
import { addState, savedThere } from "./add-state.ts";
import { type Budget, copyFile, copyTree } from "./copy-files.ts";
import { copyRows } from "./copy-rows.ts";
import { copyStanding, stampOf } from "./copy-standing.ts";
import { inDatabases } from "./databases.ts";
import { answerOf, ImportFault } from "./fault.ts";
import { findPlaces, type Place } from "./find-places.ts";

type Report = (progress: ImportProgress) => void;

/** What was copied into the new home. */
interface Taken {
  readonly from: string;
  /** The file without which it is no session, below the home. */
  readonly main: string;
  readonly mtimeMs: number;
  readonly files: number;
  readonly rows: number;
}

/**
 * The first place that has the session becomes the task's first state. One that cannot be read does not hide another. An import that no run has
 * saved since is made again: the session may have gone on at the old place.
 */
export async function importState(command: ImportCommand, report: Report): Promise<ImportAnswer> {
  if (command.onlyLook) return lookFor(command);
  const saved = await savedThere(command);
  if (saved === "save") return { kind: "saved-already" };
  const answer = await importNow(command, report);
  const isGone = answer.kind === "not-found" || answer.kind === "unfit";
  return saved === "import" && isGone ? { kind: "saved-already" } : answer;
}

async function lookFor({ root, sources }: ImportCommand): Promise<ImportAnswer> {
  for (const { path, under = root, ...source } of sources) {
    const [place] = await findPlaces(under, path, source.kind === "files" ? source.first : [], () => {});
    if (place !== undefined) return { kind: "seen", mtimeMs: place.mtimeMs };
  }
  return { kind: "not-found", places: sources.map(({ path }) => path) };
}

async function importNow(command: ImportCommand, report: Report): Promise<ImportAnswer> {
  const faults: ImportAnswer[] = [];
  const mark = join(command.temp, "in-use");
  writeFileSync(mark, "");
  let spent = 0;
  for (const [index, look] of (await lookups(command, faults)).entries()) {
    const home = join(command.temp, `home-${index}`);
    const left = Math.max(command.maxBytes, command.maxDatabaseBytes) - spent;
    const onCopied = (bytes: number): void => {
      spent += bytes;
    };
    const taken = await look({ home, copy: join(command.temp, `copy-${index}`), left, onCopied, report }).catch((error) => {
      faults.push(answerOf(error));
      return null;
    });
    if (taken === null) {
      rmSync(home, { recursive: true, force: true });
      continue;
    }
    if (!existsSync(mark)) throw new ImportFault("stalled", "the server's temporary folder was removed meanwhile");
    report({ step: "volume", bytes: 0 });
    const onWritten = (written: number): void => report({ step: "volume", bytes: written });
    const { bytes } = await addState(home, taken.main, new Date(taken.mtimeMs), command, onWritten);
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
  /** How many bytes the import may still copy. */
  readonly left: number;
  readonly onCopied: (bytes: number) => void;
  readonly report: Report;
}

type Lookup = (work: Work) => Promise<Taken | null>;

/** Each place that is there, in the order of the sources. */
async function lookups(command: ImportCommand, faults: ImportAnswer[]): Promise<Lookup[]> {
  const found: Lookup[] = [];
  for (const source of command.sources) {
    const first = source.kind === "files" ? source.first : [];
    const places = await findPlaces(source.under ?? command.root, source.path, first, (error) => faults.push(answerOf(error)));
    if (places.length > MOST_PLACES) faults.push({ kind: "blocked", reason: `${source.path} stands for more than ${MOST_PLACES} files` });
    for (const place of places.slice(0, MOST_PLACES))
      found.push((work) => (source.kind === "files" ? takeFiles(source, place, command, work) : takeRows(source, place, command, work)));
  }
  return found;
}

/** Of one source: a database is copied as a whole before it can be read. */
const MOST_PLACES = 100;

async function takeFiles(
  { beside = [], to, under }: Extract<ImportSource, { kind: "files" }>,
  { path, mtimeMs }: Place,
  { root: volume, maxBytes }: ImportCommand,
  work: Work,
): Promise<Taken> {
  const root = under ?? volume;
  const main = join(to, basename(path));
  const files = await inBudget(maxBytes, work, async (budget) => {
    await copyFile(root, path, join(work.home, main), budget);
    for (const name of beside) await copyTree(root, join(dirname(path), name), join(work.home, to, name), budget);
    return budget.files;
  });
  return { from: path, main, mtimeMs, files, rows: 0 };
}

async function takeRows(source: RowImport, { path, mtimeMs }: Place, command: ImportCommand, work: Work): Promise<Taken | null> {
  const sqlite = process.getBuiltinModule?.("node:sqlite");
  if (sqlite?.DatabaseSync === undefined)
    throw new ImportFault(
      "blocked",
      `${path} is a SQLite database, which this server's Node ${process.versions.node} cannot read: run the server on Node 24`,
    );
  const { maxBytes, maxDatabaseBytes } = command;
  const root = source.under ?? command.root;
  const { home, copy, report } = work;
  const file = join(copy, "database");
  try {
    const stamp = await inBudget(maxDatabaseBytes, work, (budget) => copyStanding(root, path, file, budget));
    if (statSync(file).size === 0) return null;
    let read = 0;
    const onBytes = (more: number): void => {
      read += more;
      report({ step: "copies", bytes: read });
    };
    onBytes(0);
    const take = () =>
      inDatabases(sqlite, file, join(home, source.to), path, (from, to) => copyRows(from, to, source, { maxBytes, onBytes }));
    const rows = await whileStanding(take, root, path, stamp);
    return rows === null ? null : { from: path, main: source.to, mtimeMs, files: 1, rows };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** What is wrong with a database that is written to may be right the next time. */
async function whileStanding<T>(take: () => T, root: string, path: string, stamp: string): Promise<T> {
  try {
    return take();
  } catch (error) {
    const isFinal = error instanceof ImportFault && error.kind === "unfit";
    if (!isFinal || (await stampOf(root, path)) === stamp) throw error;
    throw new ImportFault("stalled", `${error.message}; it has changed since`);
  }
}

/** Whatever becomes of it, what was copied counts. */
async function inBudget<T>(maxBytes: number, { left, onCopied, report }: Work, copy: (budget: Budget) => Promise<T>): Promise<T> {
  const budget: Budget = { maxBytes, left, bytes: 0, files: 0, onBytes: () => report({ step: "volume", bytes: budget.bytes }) };
  try {
    return await copy(budget);
  } finally {
    onCopied(budget.bytes);
  }
}
