import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { RowImport, RowRule } from "../protocol.ts";
import { ImportFault } from "./fault.ts";
import { rowSize } from "./row-size.ts";
import { quoted, readTables, type Table } from "./table-schema.ts";

/** Of SQLite's own memory in this process. */
const HEAP_BYTES = 256 * 1024 * 1024;
const MOST_ROWS = 2_000_000;
const MOST_ROUNDS = 50;
const MOST_ORPHANS = 100_000;

type Row = Readonly<Record<string, SQLOutputValue>>;

interface RowBudget {
  readonly maxBytes: number;
  /** So many bytes more were copied. */
  readonly onBytes: (bytes: number) => void;
}

/** Opens a database that anybody may have written, a copy of the server's own. */
export function openCopy(sqlite: typeof import("node:sqlite"), file: string): DatabaseSync {
  const db = new sqlite.DatabaseSync(file, { enableDoubleQuotedStringLiterals: false, enableForeignKeyConstraints: false });
  // Exclusive: its log is then read without a file in shared memory.
  for (const pragma of [`hard_heap_limit=${HEAP_BYTES}`, "trusted_schema=OFF", "cell_size_check=ON", "locking_mode=EXCLUSIVE"])
    db.exec(`PRAGMA ${pragma}`);
  for (const pragma of ["temp_store=MEMORY", "mmap_size=0", "query_only=ON"]) db.exec(`PRAGMA ${pragma}`);
  return db;
}

/** Copies the rows of one session into a new database; null = the session is not in this one. */
export function copyRows(from: DatabaseSync, to: DatabaseSync, source: RowImport, budget: RowBudget): number | null {
  const { root } = source;
  const tables = new Map(readTables(from).map((table) => [table.name, table]));
  const rootTable = tables.get(root.table);
  if (rootTable?.columns.includes(root.column) !== true) return null;
  const found = rootRow(from, rootTable, source);
  if (found === undefined) return null;
  for (const { create } of tables.values()) for (const statement of create) to.exec(statement);
  const copier = createCopier(from, to, source, budget, rowSize(found));
  to.exec("BEGIN");
  const wanted = (rule: RowRule): boolean => tables.get(rule.table) !== undefined;
  const before = source.rows.filter((rule) => !("column" in rule) || "from" in rule).filter(wanted);
  const after = source.rows.filter((rule) => "column" in rule && !("from" in rule)).filter(wanted);
  for (const rule of before) copier(tables.get(rule.table)!, rule, found);
  copier(rootTable, { table: root.table, column: root.column }, found);
  let rows = 0;
  for (const rule of after) rows = copier(tables.get(rule.table)!, rule, found);
  removeOrphans(to);
  to.exec("COMMIT");
  return rows;
}

/** Of the root's row, what other rules need of it. Nothing makes its column unique: one row is read, whatever there is. */
function rootRow(from: DatabaseSync, table: Table, { root, rows }: RowImport): Row | undefined {
  const needed = rows.flatMap((rule) => ("from" in rule && table.columns.includes(rule.from) ? [rule.from] : []));
  const columns = [...new Set([root.column, ...needed])];
  return from.prepare(`${selectFrom({ name: table.name, columns })} WHERE ${quoted(root.column)} = ? LIMIT 1`).get(root.value) as
    | Row
    | undefined;
}

/** Rows that refer to rows of other sessions; taking one away may leave another without its own. */
function removeOrphans(to: DatabaseSync): void {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const orphans = firstOrphans(to);
    if (orphans.length === 0) return;
    for (const { table, rowid } of orphans) to.prepare(`DELETE FROM ${quoted(table)} WHERE rowid = ?`).run(rowid ?? null);
  }
  throw new ImportFault("unfit", "the session has too many rows that refer to rows of others");
}

function firstOrphans(to: DatabaseSync): Row[] {
  const orphans: Row[] = [];
  for (const row of to.prepare("PRAGMA foreign_key_check").iterate()) if (orphans.push(row as Row) === MOST_ORPHANS) break;
  return orphans;
}

/** Copies what a rule stands for; returns the rows of all rules so far. */
function createCopier(from: DatabaseSync, to: DatabaseSync, { root, set }: RowImport, { maxBytes, onBytes }: RowBudget, begun: number) {
  let [rows, bytes] = [0, begun];
  return (table: Table, rule: RowRule, found: Row): number => {
    if ("column" in rule && !table.columns.includes(rule.column)) return rows;
    const instead = Object.entries(set[table.name] ?? {}).filter(([column]) => table.columns.includes(column));
    const select = from.prepare(`${selectFrom(table)}${"column" in rule ? ` WHERE ${quoted(rule.column)} = ?` : ""}`);
    select.setReadBigInts(true);
    const places = table.columns.map(() => "?").join(", ");
    const insert = to.prepare(`INSERT OR IGNORE INTO ${quoted(table.name)} (${table.columns.map(quoted).join(", ")}) VALUES (${places})`);
    const value = !("column" in rule) ? [] : ["from" in rule ? (found[rule.from] ?? null) : root.value];
    for (const row of select.iterate(...value)) {
      const values = { ...row, ...Object.fromEntries(instead) } as Record<string, SQLOutputValue>;
      const size = rowSize(values);
      bytes += size;
      if (++rows > MOST_ROWS || bytes > maxBytes)
        throw new ImportFault("unfit", `the session has more than ${MOST_ROWS} rows or ${maxBytes} bytes`);
      insert.run(...table.columns.map((column) => values[column] ?? null));
      onBytes(size);
    }
    return rows;
  };
}

const selectFrom = ({ name, columns }: Pick<Table, "name" | "columns">): string =>
  `SELECT ${columns.map(quoted).join(", ")} FROM ${quoted(name)}`;
