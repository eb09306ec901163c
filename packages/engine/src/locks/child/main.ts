// Tries SQLite's locks in a folder. A process of its own, not that of the volume: on a mount without its lock service a lock may never be answered.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { judgeLocks, type LockFacts, writeFinding } from "../judge-locks.ts";

const PREFIX = "lock-test-";
const ABANDONED_MS = 3_600_000;

/** Another process: the locks of one process do not hinder it. Its exit code is SQLite's. */
const SECOND = `const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
try { new DatabaseSync(process.argv[1]).exec("BEGIN IMMEDIATE; COMMIT"); } catch (error) { process.exit((error.errcode & 255) || 1); }`;

const SECOND_MS = 3_000;

const lockAgain = (file: string): number | null =>
  spawnSync(process.execPath, ["--no-warnings", "-e", SECOND, "--", file], { timeout: SECOND_MS, killSignal: "SIGKILL" }).status;

const errorOf = (error: unknown): Pick<LockFacts, "error" | "message"> => {
  const { errcode, message } = error as Error & { errcode?: number };
  return { error: errcode === undefined ? null : errcode & 255, message };
};

function tryLocks({ DatabaseSync }: typeof import("node:sqlite"), file: string): LockFacts {
  let facts: LockFacts = { error: 0, message: "", held: null, released: null };
  try {
    const db = new DatabaseSync(file);
    db.exec("PRAGMA journal_mode=DELETE; CREATE TABLE lock (a); BEGIN EXCLUSIVE");
    facts = { ...facts, held: lockAgain(file) };
    db.exec("COMMIT");
    facts = { ...facts, released: lockAgain(file) };
    db.close();
    return facts;
  } catch (error) {
    return { ...facts, ...errorOf(error) };
  }
}

/** What tests left that were ended. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => each.startsWith(PREFIX)))
    if (Date.now() - statSync(join(folder, name)).mtimeMs > ABANDONED_MS) rmSync(join(folder, name), { recursive: true, force: true });
}

function main(root = "", folder = ""): LockFacts {
  const sqlite = process.getBuiltinModule?.("node:sqlite");
  if (sqlite?.DatabaseSync === undefined)
    return { error: null, message: `Node ${process.versions.node} has no SQLite`, held: null, released: null };
  try {
    // A root that is missing is a volume that is not mounted: nothing is created in its place.
    statSync(root);
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    sweep(folder);
    const own = mkdtempSync(join(folder, PREFIX));
    const facts = tryLocks(sqlite, join(own, "test.db"));
    rmSync(own, { recursive: true, force: true });
    return facts;
  } catch (error) {
    return { ...errorOf(error), error: null, held: null, released: null };
  }
}

process.stdout.write(writeFinding(judgeLocks(main(...process.argv.slice(1)))));
